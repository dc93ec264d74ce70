// SPDX-License-Identifier: GPL-2.0-only
/* Program of the build: makes documents from the tables of commands, for one program or both. */
#include <string.h>

#include "doc/doc.h"
#include "shared/util.h"

/* "command option value" a line, for tests. */
static void doc_list(const struct ctl_program *p)
{
	const struct ctl_option *o;
	size_t i;

	for (i = 0; p->commands[i]; i++) {
		printf("%s\n", p->commands[i]->name);
		ctl_for_each_option(o, p->commands[i])
			printf("%s --%s %s\n", p->commands[i]->name, o->name, o->arg ? o->arg : "");
	}
}

static const struct {
	const char *name;
	void (*print)(const struct ctl_program *p); /* for each program */
	void (*once)(void);
} outputs[] = {
	{ "man", doc_man, NULL },	    { "bash", doc_bash, NULL },
	{ "zsh", doc_zsh, NULL },	    { "table", doc_table, NULL },
	{ "markdown", doc_markdown, NULL }, { "list", doc_list, NULL },
	{ "families", NULL, doc_families }, { "labels", NULL, doc_labels },
};

static const struct ctl_program *const programs[] = { &ctl_program, &lab_program };

/* Print for the program of that name; NULL: for each program. */
static void print(size_t nth, const char *name)
{
	size_t i;

	if (outputs[nth].once)
		outputs[nth].once();
	for (i = 0; outputs[nth].print && i < ARRAY_SIZE(programs); i++) {
		if (name && strcmp(programs[i]->name, name))
			continue;
		ctl_set_program(programs[i]);
		outputs[nth].print(programs[i]);
	}
}

int main(int argc, char **argv)
{
	const char *what = argv[argc - 1];
	size_t i;

	for (i = 0; argc > 1 && argc < 4 && i < ARRAY_SIZE(outputs); i++) {
		if (strcmp(outputs[i].name, what))
			continue;
		print(i, argc == 3 ? argv[1] : NULL);
		return fflush(stdout) || ferror(stdout);
	}
	fputs("usage: command-doc [PROGRAM] man|bash|zsh|table|markdown|list|families|labels\n",
	      stderr);
	return 2;
}
