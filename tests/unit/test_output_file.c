// SPDX-License-Identifier: GPL-2.0-only
/* Files that guard writes: by a child, so that a slow disk never makes it late. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "guard/output-file.h"
#include "shared/child.h"
#include "shared/clock.h"
#include "shared/macro.h"
#include "unit.h"

static char dir[] = "/tmp/gpreempt-output.XXXXXX";
static char path[64];
static struct guard_file file;
static unsigned int beats;

static void setup(void)
{
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/file", dir);
	file = (struct guard_file){ .what = "metrics file", .path = path };
	beats = 0;
}

static void teardown(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static void read_file(const char *name, char *text, size_t size)
{
	FILE *f = fopen(name, "r");

	ck_assert_ptr_nonnull(f);
	text[fread(text, 1, size - 1, f)] = '\0';
	fclose(f);
}

static void beat(void *data)
{
	ck_assert_ptr_eq(data, &file);
	beats++;
}

static int finish(const char *text)
{
	return guard_file_finish(&file, text, strlen(text), beat, &file);
}

static int put(const char *text)
{
	return guard_file_put(&file, text, strlen(text));
}

/* What a poll returns when it has ended. */
static int let_it_end(void)
{
	int ret = 0;

	while (file.child) {
		shr_sleep_ns(NSEC_PER_MSEC);
		ret = guard_file_poll(&file);
	}
	return ret;
}

TEST(written)
{
	char text[64];

	ck_assert_int_eq(put("one"), 0);
	ck_assert_int_eq(let_it_end(), 0);
	read_file(path, text, sizeof(text));
	ck_assert_str_eq(text, "one");
	/* Also when the last but one is not done yet. */
	ck_assert_int_eq(put("two"), 0);
	ck_assert_int_eq(finish("three"), 0);
	read_file(path, text, sizeof(text));
	ck_assert_str_eq(text, "three");
	ck_assert_uint_gt(beats, 0);
}

/* It was well at the start, and is not later: returned once. */
TEST(fails_later)
{
	put("one");
	ck_assert_int_eq(let_it_end(), 0);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	put("two");
	ck_assert_int_eq(let_it_end(), -EISDIR);
	ck_assert_int_eq(put("two"), 0);
	ck_assert_int_eq(let_it_end(), 0);
	/* But each failure of the last one. */
	ck_assert_int_eq(finish("three"), -EISDIR);
	ck_assert_int_eq(finish("three"), -EISDIR);
	/* It works again, and then not: returned again. */
	ck_assert_int_eq(rmdir(path), 0);
	put("four");
	ck_assert_int_eq(let_it_end(), 0);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	put("five");
	ck_assert_int_eq(let_it_end(), -EISDIR);
}

static int pause_for_ever(void *arg)
{
	(void)arg;
	return pause();
}

/* A disk that does not answer: guard does not wait for it, but at the end. */
TEST(hangs)
{
	pid_t child = shr_child_start(pause_for_ever, NULL, NULL, 0);
	uint64_t begin;

	ck_assert_int_gt(child, 0);
	file.child = child;
	ck_assert_int_eq(guard_file_poll(&file), 0);
	ck_assert_int_eq(put("x"), -EBUSY);
	ck_assert_int_eq(put("x"), 0);
	ck_assert_int_eq(file.child, child);
	begin = shr_now_ns();
	ck_assert_int_eq(finish("y"), -ETIMEDOUT);
	ck_assert_uint_ge(shr_now_ns() - begin, GUARD_FILE_WAIT_NS);
	ck_assert_uint_gt(beats, 100);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

static int kept[2];

/* Exit status 0 if it has what it shall have, and nothing else. */
static int look_around(void *arg)
{
	int fd, n = 0;

	for (fd = 3; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return !(arg == &file && n == 1 && fcntl(kept[1], F_GETFD) >= 0);
}

/* A client's connection or a lock in a child would outlive guard. */
TEST(descriptors)
{
	int status = -1;
	pid_t child;

	ck_assert_int_eq(pipe(kept), 0);
	child = shr_child_start(look_around, &file, &kept[1], 1);
	ck_assert_int_gt(child, 0);
	while (!shr_child_gone(&child, &status))
		shr_sleep_ns(NSEC_PER_MSEC);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(child, 0);
	close(kept[0]);
	close(kept[1]);
}

int main(void)
{
	tcase_add_checked_fixture(unit_case(), setup, teardown);
	return unit_run("output-file");
}
