// SPDX-License-Identifier: GPL-2.0-only
/* The configuration of guard: its file, what "guard check" says of it, and changes of it. */
#include <stdlib.h>

#include "guard/guard.h"
#include "unit-ctl.h"
#include "unit.h"

static struct guard_config c;
static struct guard_config_error err;
static char path[64];

static void setup(void)
{
	snprintf(path, sizeof(path), "/tmp/gpreempt-config.%d", getpid());
}

static void teardown(void)
{
	guard_config_free(&c);
	unlink(path);
}

static int read_text(const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
	guard_config_free(&c);
	return guard_config_read(path, &c, &err);
}

static const char *printed(void)
{
	static char text[4096];
	FILE *f = fmemopen(text, sizeof(text), "w");

	guard_config_print(&c, f);
	fclose(f);
	return text;
}

/* The print of a configuration has all figures, and is a file again. */
TEST(form)
{
	static const char wanted[] =
		"policy deadline slots=2 slice=20ms period=500ms window=10s linger=1500us\n"
		"tenant role:online online cost=0.5%\n"
		"tenant comm:train offline weight=300 min=5% max=80% deadline=1s gang\n"
		"tenant user:root offline\n";

	ck_assert_int_eq(read_text("# comment\n\n"
				   "tenant comm:train weight=300\tmin=5 max=80% gang deadline=1s # x\n"
				   "policy deadline slots=2 slice=20ms\n"
				   "policy period=0.5s linger=1.5ms\r\n"
				   "tenant role:online cost=0.5 online\n"
				   "tenant user:root offline"),
			 0);
	ck_assert_str_eq(printed(), wanted);
	ck_assert_int_eq(read_text(wanted), 0);
	ck_assert_str_eq(printed(), wanted);
}

static const struct {
	const char *text;
	int line;
	const char *why;
} refused[] = {
	{ "", 0, "no tenant that is offline" },
	{ "tenant role:online online\n", 0, "no tenant that is offline" },
	{ "\npolicy round\n", 2, "fair, priority, deadline, or fifo, not \"round\"" },
	{ "tenants x\n", 1, "begins with policy or tenant, not \"tenants\"" },
	{ "tenant\n", 1, "a target is needed" },
	{ "tenant x:y\n", 1, "a target is needed" },
	{ "tenant comm:a weight=0\n", 1, "weight is a number from 1 to 10000" },
	{ "tenant comm:a weight=10001\n", 1, "weight is a number" },
	{ "tenant comm:a weight\n", 1, "\"weight\" is not known there" },
	{ "tenant comm:a gang=1\n", 1, "\"gang=1\" is not known there" },
	{ "tenant comm:a slots=1\n", 1, "\"slots=1\" is not known there" },
	{ "policy fair weight=1\n", 1, "\"weight=1\" is not known there" },
	{ "tenant comm:a\nload comm:b work=1ms\n", 2, "a load is that of a tenant" },
	{ "tenant comm:a\nload\n", 2, "a load is that of a tenant" },
	{ "tenant comm:a\nload comm:a weight=1\n", 2, "\"weight=1\" is not known there" },
	{ "run time=x\n", 1, "time is a time with its unit" },
	{ "tenant comm:a min=91\n", 1, "min is a percentage up to 90" },
	{ "tenant comm:a min=5.5%\n", 1, "min is a percentage" },
	{ "tenant comm:a min=-1\n", 1, "min is a percentage" },
	{ "tenant comm:a min=50% max=20%\n", 1, "min is more than max" },
	{ "tenant comm:a cost=1%\n", 1, "cost is for an online tenant" },
	{ "tenant comm:a online weight=2\n", 1, "an online tenant has only a cost" },
	{ "tenant comm:a online cost=0.55%\n", 1, "cost is a percentage up to 100" },
	{ "tenant comm:a online cost=101%\n", 1, "cost is a percentage up to 100" },
	{ "policy slice=x\n", 1, "slice is a time with its unit" },
	{ "policy slice=48h\n", 1, "slice is a time" },
	{ "policy window=1ms\n", 1, "the window no shorter" },
	{ "policy period=0s window=0s\n", 1, "the period is 1ms at least" },
};

TEST_EACH(refused_line, ARRAY_SIZE(refused))
{
	ck_assert_int_eq(read_text(refused[_i].text), -EINVAL);
	ck_assert_int_eq(err.line, refused[_i].line);
	ck_assert_msg(strstr(err.text, refused[_i].why), "%s", err.text);
	ck_assert_uint_eq(c.n[0] + c.n[1], 0);
}

TEST(refused_file)
{
	char text[128 * 64] = "";
	FILE *f;
	int i;

	for (i = 0; i <= GUARD_WORDS; i++)
		strcat(text, "tenant comm:a\n");
	ck_assert_int_eq(read_text(text), -EINVAL);
	ck_assert_int_eq(err.line, GUARD_WORDS + 1);
	ck_assert_int_eq(guard_config_read("/nonexistent", &c, &err), -EINVAL);
	ck_assert(strstr(err.text, "No such file"));
	f = fopen(path, "w");
	for (i = 0; i < 70000; i++)
		fputc('\n', f);
	fclose(f);
	ck_assert_int_eq(guard_config_read(path, &c, &err), -EINVAL);
	f = fopen(path, "w");
	fwrite("tenant comm:a\n\0\n", 16, 1, f);
	fclose(f);
	ck_assert_int_eq(guard_config_read(path, &c, &err), -EINVAL);
}

/*
 * A tenant that is in both keeps its number and its charges, whatever its place; one that is gone
 * is forgotten when its processes are, and no earlier.
 */
TEST(changes)
{
	static struct guard_config none;
	struct guard_config before;
	struct gpreempt_policy *p;
	unsigned int train, other;
	int entity;

	ck_assert_int_eq(read_text("tenant role:online online\ntenant comm:train weight=300\n"
				   "tenant comm:other\n"),
			 0);
	ck_assert_int_eq(gpreempt_policy_new(&c.figures, 0, &p), 0);
	ck_assert_int_eq(guard_config_use(p, &none, &c), 0);
	train = c.tenant[0][0].number;
	other = c.tenant[0][1].number;
	ck_assert_uint_ne(train, other);
	entity = gpreempt_policy_add(p, other, 1);
	p->tenant[train].seat[0].used = 7;
	before = c;
	c = none;
	ck_assert_int_eq(read_text("policy fifo\ntenant comm:new\ntenant comm:train weight=500\n"
				   "tenant comm:other online\n"),
			 0);
	ck_assert_int_eq(guard_config_use(p, &before, &c), 0);
	ck_assert_uint_eq(c.tenant[0][1].number, train);
	ck_assert_uint_eq(p->tenant[train].seat[0].used, 7);
	ck_assert_uint_eq(p->tenant[train].wish.weight, 500);
	/* Its class is another one: the process has the old tenant until it is moved or gone. */
	ck_assert_uint_ne(c.tenant[1][0].number, other);
	ck_assert_uint_ne(c.tenant[0][0].number, other);
	ck_assert_uint_eq(p->entity[entity].tenant, other);
	guard_config_free(&before);
	before = c;
	ck_assert_int_eq(guard_config_use(p, &before, &c), 0);
	ck_assert_int_eq(p->tenant[other].wish.role, GPREEMPT_ROLE_OFFLINE);
	gpreempt_policy_remove(p, entity);
	ck_assert_int_eq(guard_config_use(p, &before, &c), 0);
	ck_assert_int_eq(p->tenant[other].wish.role, GPREEMPT_ROLE_NONE);
	gpreempt_policy_free(p);
}

TEST(one_line)
{
	static struct guard_config none;
	struct gpreempt_policy *p;
	char line[128];

	ck_assert_int_eq(read_text("tenant comm:train weight=300\n"), 0);
	ck_assert_int_eq(gpreempt_policy_new(&c.figures, 0, &p), 0);
	ck_assert_int_eq(guard_config_use(p, &none, &c), 0);
#define SET(ret, text) ck_assert_int_eq(guard_config_set(p, &c, strcpy(line, text), &err), ret)
	SET(0, "policy fifo slots=3");
	ck_assert_uint_eq(p->options.slots, 3);
	SET(0, "tenant comm:train min=20%");
	ck_assert_uint_eq(p->tenant[c.tenant[0][0].number].wish.min, 20);
	SET(-EINVAL, "tenant comm:other min=20%");
	ck_assert(strstr(err.text, "no such tenant"));
	SET(-EINVAL, "tenant comm:train online");
	SET(-EINVAL, "policy slots=x");
	ck_assert_str_eq(printed(),
			 "policy fifo slots=3 slice=50ms period=1s window=10s linger=2ms\n"
			 "tenant comm:train offline min=20%\n");
	gpreempt_policy_free(p);
}

TEST(check_command)
{
	ck_assert_int_eq(read_text("tenant comm:train\npolicy x\n"), -EINVAL);
	CTL(GPREEMPT_CLASS_USAGE, "guard check %s", path);
	ERR_HAS(", line 2: the order is fair");
	ck_assert_int_eq(read_text("tenant comm:train\n"), 0);
	CTL(0, "guard check %s", path);
	ck_assert_str_eq(ctl_out, printed());
}

TEST_FIXTURE(setup, teardown)

int main(void)
{
	return unit_run();
}
