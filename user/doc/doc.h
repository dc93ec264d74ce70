/* SPDX-License-Identifier: GPL-2.0-only */
/* Documents from the tables of commands. */
#ifndef DOC_H
#define DOC_H

#include "cli/cli.h"

void doc_man(const struct ctl_program *p);	/* the commands, for its manual */
void doc_bash(const struct ctl_program *p);	/* tables, for the completion of bash */
void doc_zsh(const struct ctl_program *p);	/* zsh's completion: a case for each command */
void doc_table(const struct ctl_program *p);	/* rows of markdown, for README.md */
void doc_markdown(const struct ctl_program *p); /* a section a command, for docs/commands.md */
void doc_families(void);			/* rows of markdown, for docs/metrics.md */
void doc_labels(void);				/* rows of the labels */

#endif
