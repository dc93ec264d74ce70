// SPDX-License-Identifier: GPL-2.0-only
/* Texts of the table in paragraphs, for manuals and markdown. */
#include <string.h>

#include "doc/doc.h"

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
			fputs(!keep ? style->paragraph :
			      empty ? "\n" :
				      "",
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
