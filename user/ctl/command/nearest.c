// SPDX-License-Identifier: GPL-2.0-only
/* A name that was typed wrong: which one is meant? */
#include <string.h>

#include "ctl/command/ctl.h"

#define MAX_NAME 32 /* bytes; a longer word is no name that we have */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * How many edits make one word of the other: a letter more, one less, another one, or two
 * neighbours in each other's place.
 */
static size_t count_edits(const char *a, const char *b)
{
	size_t rows[3][MAX_NAME + 1], n = strlen(a), m = strlen(b), i, j;

	for (j = 0; j <= m; j++)
		rows[0][j] = j;
	for (i = 1; i <= n; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3];

		row[0] = i;
		for (j = 1; j <= m; j++) {
			row[j] = least(least(above[j], row[j - 1]) + 1,
				       above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], rows[(i + 1) % 3][j - 2] + 1);
		}
	}
	return rows[n % 3][m];
}

void ctl_offer(struct ctl_nearest *nearest, const char *name)
{
	size_t len = strlen(nearest->typed), edits, limit;

	/* Of a short word, two other letters make any other one. */
	limit = 2 + (len > 4) + (len > 7);
	if (nearest->name)
		limit = nearest->edits;
	if (len > MAX_NAME || strlen(name) > MAX_NAME)
		return;
	edits = count_edits(nearest->typed, name);
	if (edits >= limit)
		return;
	nearest->name = name;
	nearest->edits = edits;
}
