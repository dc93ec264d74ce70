// SPDX-License-Identifier: GPL-2.0-only
/* What preempt prints and writes of what it has measured. */
#include <stdio.h>
#include <string.h>

#include "ctl/preempt/preempt.h"
#include "shared/macro.h"
#include "unit-ctl.h"

static char text[16384];
static struct preempt_args args;
static struct preempt_target targets[2];
static struct preempt p;

static void add(struct preempt_series *s, uint64_t from, uint64_t step,
		size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		ck_assert_int_eq(preempt_add_sample(s, from + i * step), 0);
}

static void setup(void)
{
	memset(&args, 0, sizeof(args));
	memset(targets, 0, sizeof(targets));
	targets[0].pid = 4711;
	targets[1].pid = 4712;
	p = (struct preempt){
		.args = &args,
		.targets = targets,
		.n_targets = 1,
		.cycles = 100,
		.succeeded = 99,
		.all.first_ns = 7500,
		.all.open_ns = 123456,
	};
	p.all.verdicts[GPREEMPT_VERIFIED] = 100;
	/* 1 to 99 us, the largest first. */
	add(&p.all.suspend, 99000, -1000, 99);
	add(&p.all.resume, 2000, 0, 100);
}

/* What the report prints, in text. */
static void capture(const char *error)
{
	FILE *file = tmpfile();
	int saved;
	size_t n;

	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	dup2(fileno(file), STDOUT_FILENO);
	preempt_print_result(&p, error);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	rewind(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
}

static void is_us(struct json_object *o, const char *key, double us)
{
	ck_assert_double_eq_tol(json_object_get_double(json_at(o, key)), us,
				0.0001);
}

static struct json_object *report(const char *error)
{
	struct json_object *o;

	args.mode = OUT_JSON;
	capture(error);
	o = json_tokener_parse(text);
	ck_assert_ptr_nonnull(o);
	return o;
}

TEST(as_json)
{
	struct json_object *o = report(NULL), *suspend;

	expect_number(o, "cycles", 100);
	expect_number(o, "succeeded", 99);
	suspend = json_at(o, "suspend_ioctl_us");
	expect_number(suspend, "n", 99);
	is_us(suspend, "min", 1);
	is_us(suspend, "mean", 50);
	is_us(suspend, "p50", 50);
	is_us(suspend, "p90", 90);
	is_us(suspend, "p99", 99);
	is_us(suspend, "p999", 99);
	is_us(suspend, "max", 99);
	is_us(json_at(o, "resume_ioctl_us"), "p50", 2);
	is_us(o, "first_suspend_us", 7.5);
	is_us(o, "session_open_us", 123.456);
	expect_null(o, "error");
	json_object_put(o);
}

/* Without the module there are no slots, and no other process is seen. */
TEST(no_slots)
{
	struct json_object *o = report("it ended");

	expect_null(o, "suspend_slots_us");
	expect_null(o, "disturbed");
	expect_null(o, "online_us");
	expect_text(o, "error", "it ended");
	json_object_put(o);
	args.mode = OUT_PIPE;
	capture(NULL);
	ck_assert_ptr_nonnull(strstr(text, "\nsuspend_slots_us -\n"));
	ck_assert_ptr_nonnull(strstr(text, "\ndisturbed -\n"));
}

TEST(slots)
{
	struct json_object *o, *slots;

	add(&p.all.slots, 40000, 0, 3);
	add(&p.all.resolution, 1000, 1000, 3);
	o = report(NULL);
	slots = json_at(o, "suspend_slots_us");
	is_us(slots, "p50", 40);
	is_us(slots, "resolution_us", 2);
	is_us(slots, "resolution_max_us", 3);
	json_object_put(o);
}

/* No sample is no figure, and not a figure of 0. */
TEST(no_samples)
{
	struct json_object *o;

	p.all.suspend.n = 0;
	p.all.first_ns = GPREEMPT_UNKNOWN;
	o = report(NULL);
	expect_number(o, "suspend_ioctl_us.n", 0);
	expect_null(o, "suspend_ioctl_us.p50");
	expect_null(o, "first_suspend_us");
	json_object_put(o);
	args.mode = OUT_PIPE;
	capture(NULL);
	ck_assert_ptr_nonnull(strstr(text, "\nfirst_suspend_us -\n"));
}

TEST(lines)
{
	static const char *const expected[] = {
		("suspend_ioctl_us n=99 min=1.0 p50=50.0 p90=90.0 p99=99.0 "
		 "p99.9=99.0 max=99.0 mean=50.0\n"),
		"\nfirst_suspend_us 7.5\n",
		"\nverified yes 100 no 0 not_checked 0\n",
		"\ncycles 100 succeeded 99 rate 99.0%\n",
	};
	static const char second[] =
		"\ntarget 4712 resume_ioctl_us n=2 min=5.0 ";
	size_t i;

	capture(NULL);
	for (i = 0; i < ARRAY_SIZE(expected); i++)
		ck_assert_ptr_nonnull(strstr(text, expected[i]));
	ck_assert_ptr_null(strstr(text, "target "));
	p.n_targets = 2;
	add(&targets[1].figures.resume, 5000, 0, 2);
	capture(NULL);
	ck_assert_ptr_nonnull(strstr(text, second));
}

/* A line a target and one for all; what is not known is "-". */
TEST(samples)
{
	static const char expected[] =
		"gpreempt-samples - version: 1.0\n"
		"# cycle pid requested done suspend_ioctl_ns suspend_slots_ns "
		"slots_resolution_ns held_ns resume_ioctl_ns verified\n"
		"3 4711 4 4 1000 900 50 7000 2000 1\n"
		"3 4712 1 0 1100 - - 7000 2100 -\n"
		"3 - 5 4 1200 - - 7000 2200 0\n";
	char path[] = "/tmp/gpreempt-samples-XXXXXX";
	FILE *f;
	size_t n;

	close(mkstemp(path));
	args.samples = path;
	p.n_targets = 2;
	p.cycles = 3;
	targets[0].now = (struct preempt_cycle){
		4, 4, 1000, 900, 50, 7000, 2000, 0, GPREEMPT_VERIFIED, true
	};
	targets[1].now = (struct preempt_cycle){
		1,    0,    1100, GPREEMPT_UNKNOWN,	GPREEMPT_UNKNOWN,
		7000, 2100, 0,	  GPREEMPT_NOT_CHECKED, false
	};
	p.now = (struct preempt_cycle){
		5,    4,    1200, GPREEMPT_UNKNOWN,	 GPREEMPT_UNKNOWN,
		7000, 2200, 0,	  GPREEMPT_CONTRADICTED, false
	};
	ck_assert_int_eq(preempt_open_samples(&p), 0);
	preempt_put_samples(&p);
	ck_assert_int_eq(preempt_close_samples(&p), 0);
	f = fopen(path, "r");
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	unlink(path);
	ck_assert_str_eq(text, expected);
}

TEST(full_disk)
{
	args.samples = "/dev/full";
	ck_assert_int_eq(preempt_open_samples(&p), 0);
	preempt_put_samples(&p);
	ck_assert_int_eq(preempt_close_samples(&p), -ENOSPC);
	args.samples = "/no/such/directory/samples";
	ck_assert_int_eq(preempt_open_samples(&p), -ENOENT);
}

TEST_FIXTURE(setup, NULL)
