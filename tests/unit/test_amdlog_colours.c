// SPDX-License-Identifier: GPL-2.0-only
/* ROCm's log on a terminal: a log with colours has the same facts as without. */
#include "lab/amdlog.h"
#include "unit.h"

#define FIXTURE "tests/unit/fixtures/hip-5.7.1/amd-log-4"

/* Facts read from one log. */
struct reading {
	struct gp_amdlog *log;
	const struct gp_amdlog_data *data;
	struct gp_amdlog_packet packets[64];
	size_t n;
};

static struct reading plain, coloured;
static char text[1 << 18], painted[1 << 22];

static void take_packet(void *data, const struct gp_amdlog_packet *p)
{
	struct reading *r = data;

	ck_assert_uint_lt(r->n, ARRAY_SIZE(r->packets));
	r->packets[r->n++] = *p;
}

static void read_log(struct reading *r, const char *from, size_t len)
{
	r->log = gp_amdlog_new(GPREEMPT_UNKNOWN, take_packet, r);
	gp_amdlog_feed(r->log, from, len);
	gp_amdlog_end(r->log);
	r->data = gp_amdlog_get(r->log);
}

static void setup(void)
{
	memset(&plain, 0, sizeof(plain));
	memset(&coloured, 0, sizeof(coloured));
	strcpy(text, unit_file(FIXTURE));
	read_log(&plain, text, strlen(text));
	ck_assert_uint_gt(plain.n, 0);
	ck_assert_uint_eq(plain.data->n_problems, 0);
}

static void teardown(void)
{
	gp_amdlog_free(plain.log);
	gp_amdlog_free(coloured.log);
}

static const char *const colours[] = {
	"\x1b[0m",
	"\x1b[m",
	"\x1b[1;38;5;208m",
	"\x1b[2K",
	/* No sequence follows, if no "[" does: that byte alone is no text. */
	"\x1b",
	"\x1b\x1b",
};

/* Put a colour before each character, and at the ends of lines. */
TEST_EACH(everywhere, ARRAY_SIZE(colours))
{
	const char *c;
	size_t n = 0;

	for (c = text; *c; c++)
		n += snprintf(painted + n, sizeof(painted) - n, "%s%c",
			      *c != '[' || strchr(colours[_i], '[') ? colours[_i] : "", *c);
	ck_assert_uint_lt(n, sizeof(painted));
	read_log(&coloured, painted, n);
	ck_assert_uint_eq(coloured.data->n_problems, 0);
	ck_assert_uint_eq(coloured.data->lines, plain.data->lines);
	ck_assert_uint_eq(coloured.data->records, plain.data->records);
	ck_assert_uint_eq(coloured.data->n_queues, plain.data->n_queues);
	ck_assert_mem_eq(coloured.data->queues, plain.data->queues,
			 plain.data->n_queues * sizeof(*plain.data->queues));
	ck_assert_uint_eq(coloured.n, plain.n);
	ck_assert_mem_eq(coloured.packets, plain.packets, plain.n * sizeof(*plain.packets));
}

TEST_FIXTURE(setup, teardown)
