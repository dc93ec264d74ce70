// SPDX-License-Identifier: GPL-2.0-only
/* The page: what make-page has made of the files beside this one, with the data in it. */
#include <stdlib.h>
#include <string.h>

#include "ctl/report/report.h"

/* clang-format off */
__asm__(".pushsection .rodata\n"
	"page_text:\n"
	".incbin \"" REPORT_PAGE "\"\n"
	"page_end:\n"
	".byte 0\n"
	".popsection\n");
/* clang-format on */

extern const char page_text[], page_end[];

#define MARK "@DATA@"

/* As text in a script, which "</script" would end, and "<!--" would change. */
static void put_data(FILE *out, const char *json)
{
	for (; *json; json++)
		if (*json == '<')
			fputs("\\u003c", out);
		else
			fputc(*json, out);
}

char *report_page(struct json_object *all, size_t *size)
{
	const char *mark = strstr(page_text, MARK);
	const char *rest = mark + strlen(MARK);
	char *page = NULL;
	FILE *out = open_memstream(&page, size);

	if (!out)
		return NULL;
	fwrite(page_text, 1, mark - page_text, out);
	put_data(out, json_object_to_json_string_ext(all, JSON_C_TO_STRING_PLAIN |
								  JSON_C_TO_STRING_NOSLASHESCAPE));
	fwrite(rest, 1, page_end - rest, out);
	if (fclose(out)) {
		free(page);
		return NULL;
	}
	return page;
}
