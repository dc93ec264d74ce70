// SPDX-License-Identifier: GPL-2.0-only
/* Run at build time: command-doc man|bash|zsh|table|markdown|families|labels|list. */
#include <string.h>

#include "doc/doc.h"
#include "shared/util.h"

/* "command option value" a line, for tests. */
static void doc_list(void)
{
	const struct ctl_option *o;
	size_t i;

	for (i = 0; ctl_commands[i]; i++) {
		printf("%s\n", ctl_commands[i]->name);
		ctl_for_each_option(o, ctl_commands[i])
			printf("%s --%s %s\n", ctl_commands[i]->name, o->name,
			       o->arg ? o->arg : "");
	}
}

static const struct {
	const char *name;
	void (*print)(void);
} outputs[] = {
	{ "man", doc_man },	  { "bash", doc_bash },		{ "zsh", doc_zsh },
	{ "table", doc_table },	  { "markdown", doc_markdown }, { "families", doc_families },
	{ "labels", doc_labels }, { "list", doc_list },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc == 2 && i < ARRAY_SIZE(outputs); i++) {
		if (strcmp(outputs[i].name, argv[1]))
			continue;
		outputs[i].print();
		return fflush(stdout) || ferror(stdout);
	}
	fputs("usage: command-doc man|bash|zsh|table|markdown|families|labels|list\n", stderr);
	return 2;
}
