// SPDX-License-Identifier: GPL-2.0-only
#include "unit-policy.h"

struct gpreempt_policy *p;

struct gpreempt_policy_options figures(void)
{
	return (struct gpreempt_policy_options){
		.size = sizeof(struct gpreempt_policy_options),
		.linger_ns = 2 * MS,
		.max_hold_ns = 100 * MS,
		.share = 10,
	};
}

void begin(const struct gpreempt_policy_options *options)
{
	gpreempt_policy_free(p);
	ck_assert_int_eq(gpreempt_policy_new(options, 0, &p), 0);
}

static void describe(const struct gpreempt_policy_action *actions, unsigned int n, uint64_t wake,
		     char *buf, size_t size)
{
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		len += snprintf(buf + len, size - len, "%c%c%c ", 'a' + actions[i].entity,
				actions[i].suspend ? '-' : '+',
				*gpreempt_policy_reason_name(actions[i].reason));
	if (wake == NEVER)
		snprintf(buf + len, size - len, "never");
	else
		snprintf(buf + len, size - len, "%.4g", (double)wake / MS);
}

static void expect_step(const struct line *line, uint64_t now, size_t number)
{
	struct gpreempt_policy_action actions[GPREEMPT_POLICY_ENTITIES];
	char got[256];
	uint64_t wake;
	unsigned int n = gpreempt_policy_step(p, now, actions, &wake);

	describe(actions, n, wake, got, sizeof(got));
	ck_assert_msg(!strcmp(got, line->want), "line %zu, %.4g ms: \"%s\", not \"%s\"", number,
		      line->ms, got, line->want);
}

static void run_line(const struct line *line, uint64_t now)
{
	switch (line->what) {
	case STEP:
		break;
	case BUSY:
	case IDLE:
		gpreempt_policy_busy(p, line->entity, line->what == BUSY, now);
		break;
	case BEGIN:
		ck_assert_int_eq(gpreempt_policy_begin(p, line->entity), line->value);
		break;
	case END:
		ck_assert_int_eq(gpreempt_policy_end(p, line->entity, now), line->value);
		break;
	case RELEASE:
		gpreempt_policy_release(p, line->entity,
					line->value < 0 ? NEVER : line->value * MS);
		break;
	case FAILED:
		gp_policy_failed(p, line->entity, line->value * MS);
		break;
	case RAN:
		gp_policy_ran(p, line->entity, line->value * MS, now);
		break;
	case NODES:
		gp_policy_nodes(p, line->entity, line->value);
		break;
	case ADD_ON:
	case ADD_OFF:
	case ADD_JOB:
		ck_assert_int_eq(gpreempt_policy_add(p,
						     line->what == ADD_ON ? GPREEMPT_ROLE_ONLINE :
									    GPREEMPT_ROLE_OFFLINE,
						     line->value, line->what == ADD_JOB, now),
				 line->entity);
		break;
	case REMOVE:
		gpreempt_policy_remove(p, line->entity);
		break;
	}
}

void run_table(const struct gpreempt_policy_options *options, bool pair, const struct line *lines,
	       size_t count)
{
	struct gpreempt_policy_options usual = figures();
	size_t i;

	begin(options ? options : &usual);
	if (pair) {
		gpreempt_policy_add(p, GPREEMPT_ROLE_ONLINE, 1, 0, 0);
		gpreempt_policy_add(p, GPREEMPT_ROLE_OFFLINE, 1, 0, 0);
	}
	for (i = 0; i < count; i++) {
		uint64_t now = lines[i].ms * MS;

		run_line(&lines[i], now);
		if (lines[i].want)
			expect_step(&lines[i], now, i);
	}
}
