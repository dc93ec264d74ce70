// SPDX-License-Identifier: GPL-2.0-only
/* A program that uses the library, in C and in C++. */
#include <stdio.h>

#include <gpreempt/gpreempt.h>

int main(void)
{
	struct gpreempt *g;

	if (gpreempt_new(NULL, &g))
		return 1;
	gpreempt_free(g);
	printf("version %s\n", gpreempt_version());
	return 0;
}
