// SPDX-License-Identifier: GPL-2.0-only
/* How long the names in files of containers' engines are believed. */
#include <stdio.h>
#include <string.h>

#include "shared/clock.h"
#include "shared/macro.h"
#include "unit.h"

#define ID     "c0ffee0000000000000000000000000000000000000000000000000000000000"
#define CONFIG "/var/lib/docker/containers/" ID "/config.v2.json"

static void setup(void)
{
	unit_setup();
	gp_loop_set_file(&loop, "/proc/4194242/cgroup",
			 "0::/system.slice/docker-" ID ".scope\n");
	gp_loop_set_file(&loop, CONFIG, "{\"Name\":\"/train\"}");
	gp_loop_set_file(&loop, "/etc/docker/daemon.json", "{}");
	unit_frozen_ns = shr_now_ns();
}

static void teardown(void)
{
	unit_frozen_ns = 0;
	unit_teardown();
}

static const char *name(void)
{
	static struct gpreempt_container c;

	ck_assert_int_eq(gpreempt_container(g, PID, &c), 0);
	return c.name;
}

static size_t files_read(void)
{
	const char *at = loop.trace;
	size_t n = 0;

	for (; (at = strstr(at, "root-file ")); at++)
		n++;
	return n;
}

/* Each file that exists is read once, the first one, too. */
START_TEST(kept)
{
	size_t n;

	ck_assert_str_eq(name(), "train");
	n = files_read();
	ck_assert_uint_gt(n, 0);
	ck_assert_str_eq(name(), "train");
	ck_assert_uint_eq(files_read(), n);
	unit_frozen_ns += 10 * NSEC_PER_SEC;
	ck_assert_str_eq(name(), "train");
	ck_assert_uint_gt(files_read(), n);
}
END_TEST

/* It has another name now; then its file is empty; then there is none. */
START_TEST(changed)
{
	ck_assert_str_eq(name(), "train");
	gp_loop_set_file(&loop, CONFIG, "{\"Name\":\"/serve\"}");
	ck_assert_str_eq(name(), "train");
	unit_frozen_ns += 10 * NSEC_PER_SEC;
	ck_assert_str_eq(name(), "serve");
	gp_loop_set_file(&loop, CONFIG, "");
	unit_frozen_ns += 10 * NSEC_PER_SEC;
	ck_assert_str_eq(name(), "");
	gp_loop_set_file(&loop, CONFIG, "{\"Name\":\"/train\"}");
	unit_frozen_ns += 10 * NSEC_PER_SEC;
	ck_assert_str_eq(name(), "train");
	gp_loop_set_file(&loop, CONFIG, NULL);
	unit_frozen_ns += 10 * NSEC_PER_SEC;
	ck_assert_str_eq(name(), "");
}
END_TEST

/* What could not be read just now says nothing of the name. */
START_TEST(no_answer)
{
	ck_assert_str_eq(name(), "train");
	gp_loop_fail(&loop, "root-file", 0, -EIO);
	unit_frozen_ns += 10 * NSEC_PER_SEC;
	ck_assert_str_eq(name(), "train");
}
END_TEST

int main(void)
{
	TCase *tc = unit_case();

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, kept);
	tcase_add_test(tc, changed);
	tcase_add_test(tc, no_answer);
	return unit_run("files of containers");
}
