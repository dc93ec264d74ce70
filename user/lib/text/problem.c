// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is wrong with the text, by file and line. */
#include <errno.h>

#include "lib/text/parse.h"

int gp_text_problem(struct gp_text *text, uint64_t line, const char *what)
{
	struct gp_text_problem *problem;

	if (text->n_problems++ >= GP_TEXT_PROBLEMS)
		return 0;
	problem = shr_add(&text->problems);
	if (!problem)
		return -ENOMEM;
	problem->file = text->file;
	problem->line = line;
	problem->what = what;
	return 0;
}

int gp_text_problem_at(struct gp_text *text, unsigned int file, uint64_t line,
		       const char *what)
{
	unsigned int ended = text->file;
	int ret;

	text->file = file;
	ret = gp_text_problem(text, line, what);
	text->file = ended;
	return ret;
}
