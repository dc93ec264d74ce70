/* SPDX-License-Identifier: GPL-2.0-only */
/* What is made of the table of commands. */
#ifndef DOC_H
#define DOC_H

#include "ctl/command/ctl.h"

void doc_man(void);	 /* the commands, for gpreempt-ctl(1) */
void doc_bash(void);	 /* tables, for the completion of bash */
void doc_zsh(void);	 /* a case a command, for that of zsh */
void doc_table(void);	 /* rows of markdown, for README.md */
void doc_markdown(void); /* a section a command, for docs/commands.md */
void doc_list(void);	 /* "command option value" a line, for tests */

/*
 * What a value can be completed with: the end of the name of a function that
 * both completions have; "": nothing.
 */
const char *doc_completion(enum ctl_kind kind);
const char *doc_words_completion(enum ctl_words_kind words);

/*
 * Print a text of the table in paragraphs. Lines that begin with a space are
 * to be kept as they are; begin_literal and end_literal are put around them.
 */
struct doc_style {
	const char *paragraph;
	const char *begin_literal;
	const char *end_literal;
	void (*line)(const char *line, size_t len);
	void (*literal)(const char *line, size_t len);
};

void doc_text(const char *text, const struct doc_style *style);

#endif
