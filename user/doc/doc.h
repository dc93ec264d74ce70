/* SPDX-License-Identifier: GPL-2.0-only */
/* Texts that are made from the table of commands. */
#ifndef DOC_H
#define DOC_H

#include "cli/cli.h"

void doc_man(void);	 /* the commands, for gpreempt-ctl(1) */
void doc_bash(void);	 /* tables, for the completion of bash */
void doc_zsh(void);	 /* a case a command, for that of zsh */
void doc_table(void);	 /* rows of markdown, for README.md */
void doc_markdown(void); /* a section a command, for docs/commands.md */
void doc_families(void); /* rows of markdown, for docs/metrics.md */
void doc_labels(void);	 /* the same of the labels */

#endif
