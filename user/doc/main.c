// SPDX-License-Identifier: GPL-2.0-only
/* Run at build time: command-doc man|bash|zsh|table|markdown|list. */
#include <string.h>

#include "doc/doc.h"
#include "shared/macro.h"

static const struct {
	const char *name;
	void (*print)(void);
} outputs[] = {
	{ "man", doc_man },
	{ "bash", doc_bash },
	{ "zsh", doc_zsh },
	{ "table", doc_table },
	{ "markdown", doc_markdown },
	{ "list", doc_list },
};

const char *doc_completion(enum ctl_kind kind)
{
	switch (kind) {
	case CTL_DURATION:
		return "times";
	case CTL_IDS:
		return "queues";
	case CTL_GPUS:
		return "gpus";
	case CTL_FILE:
		return "files";
	case CTL_ROLE:
		return "targets";
	default:
		return "";
	}
}

const char *doc_words_completion(enum ctl_words words)
{
	switch (words) {
	case CTL_TARGETS:
		return "targets";
	case CTL_FILES:
		return "files";
	default:
		return "";
	}
}

void doc_text(const char *text, const struct doc_style *style)
{
	bool literal = false, empty = false;

	while (*text) {
		size_t len = strcspn(text, "\n");
		bool keep = *text == ' ';

		if (len && literal && !keep)
			fputs(style->end_literal, stdout);
		if (len && keep && !literal)
			fputs(style->begin_literal, stdout);
		else if (len && (literal || empty))
			fputs(!keep ? style->paragraph : empty ? "\n" : "",
			      stdout);
		if (len) {
			literal = keep;
			(keep ? style->literal : style->line)(text, len);
		}
		empty = !len;
		text += len + (text[len] == '\n');
	}
	if (literal)
		fputs(style->end_literal, stdout);
}

void doc_list(void)
{
	const struct ctl_option *o;
	size_t i, n;

	for (i = 0; ctl_commands[i]; i++) {
		printf("%s\n", ctl_commands[i]->name);
		for (n = 0; (o = ctl_option_at(ctl_commands[i], n)); n++)
			printf("%s --%s %s\n", ctl_commands[i]->name, o->name,
			       o->arg ? o->arg : "");
	}
}

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc == 2 && i < ARRAY_SIZE(outputs); i++) {
		if (strcmp(outputs[i].name, argv[1]))
			continue;
		outputs[i].print();
		return fflush(stdout) || ferror(stdout);
	}
	fputs("usage: command-doc man|bash|zsh|table|markdown|list\n", stderr);
	return 2;
}
