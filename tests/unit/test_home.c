// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of containers out of a user's home, where the user has put what it
 * likes. The files are real ones in a directory that plays the home.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "lib/core/place.h"
#include "shared/clock.h"
#include "unit-fuse.h"
#include "unit.h"

#define ID	  "c0ffee0000000000000000000000000000000000000000000000000000000000"
#define STORAGE	  ".local/share/containers/storage"
#define DIR	  STORAGE "/overlay-containers"
#define FILE_NAME DIR "/containers.json"
#define GOOD	  "[{\"id\":\"" ID "\",\"names\":[\"infer\"]}]"
#define OTHER	  12345 /* a user that is none of ours */

static char home[] = "/tmp/gpreempt-home-XXXXXX";
static char passwd[128], cgroup[256];
static struct gp_backend_ops ops;
static struct gpreempt *lib;
static unsigned int reads;
static uid_t user;

static ssize_t read_place(void *be, const struct gp_place *place,
			  struct gp_file_id *id, char *buf, size_t size)
{
	(void)be;
	reads++;
	return gp_backend_live.read_place(NULL, place, id, buf, size);
}

static const char *below(const char *path)
{
	static char text[2][512];
	static int turn;

	turn = !turn;
	snprintf(text[turn], sizeof(text[turn]), "%s/%s", home, path);
	return text[turn];
}

static void own(const char *path)
{
	ck_assert_int_eq(lchown(path, user, user), 0);
}

static void make_dirs(const char *path)
{
	char *copy = strdup(path), *at = copy + strlen(home) + 1;

	for (; at; at = strchr(at + 1, '/')) {
		char *end = strchr(at + 1, '/');

		if (end)
			*end = '\0';
		mkdir(copy, 0755);
		own(copy);
		if (end)
			*end = '/';
	}
	free(copy);
}

static void write_file(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, len), len);
	close(fd);
	own(path);
}

static void setup(void)
{
	unit_setup();
	user = geteuid() ? geteuid() : OTHER;
	strcpy(home + strlen(home) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(home));
	chmod(home, 0755);
	own(home);
	make_dirs(below(DIR));
	snprintf(passwd, sizeof(passwd), "ann:x:%u:%u::%s:/bin/sh\n", user,
		 user, home);
	snprintf(cgroup, sizeof(cgroup),
		 "0::/user.slice/user-%u.slice/user@%u.service/libpod-" ID
		 ".scope\n",
		 user, user);
	gp_loop_set_file(&loop, "/etc/passwd", passwd);
	gp_loop_set_file(&loop, "/proc/4194242/cgroup", cgroup);
	ops = gp_backend_loop;
	ops.read_place = read_place;
	ck_assert_int_eq(gp_new_backend(NULL, &ops, &loop, &lib), 0);
	reads = 0;
}

/* Until there is none; reading reaps those that did not answer. */
static void wait_for_children(void)
{
	struct gp_place place = {
		.uid = user,
		.gid = user,
		.base = home,
		.path = "none",
	};
	struct gp_file_id id = { 0 };
	siginfo_t info;
	char text[16];

	do {
		ck_assert_int_lt(gp_place_read(&place, &id, text, 1), 0);
	} while (!waitid(P_ALL, 0, &info,
			 WEXITED | WNOHANG | WNOWAIT | __WALL));
}

static void teardown(void)
{
	char command[64];

	gpreempt_free(lib);
	wait_for_children();
	snprintf(command, sizeof(command), "rm -rf %s", home);
	ck_assert_int_eq(system(command), 0);
	unit_teardown();
}

static const char *name_of(struct gpreempt *of)
{
	static struct gpreempt_container c;

	ck_assert_int_eq(gpreempt_container(of, PID, &c), 0);
	ck_assert_str_eq(c.id, ID);
	return c.name;
}

START_TEST(honest)
{
	write_file(below(FILE_NAME), GOOD, strlen(GOOD));
	ck_assert_str_eq(name_of(lib), "infer");
}
END_TEST

START_TEST(links)
{
	write_file(below("elsewhere"), GOOD, strlen(GOOD));
	ck_assert_int_eq(symlink(below("elsewhere"), below(FILE_NAME)), 0);
	own(below(FILE_NAME));
	ck_assert_str_eq(name_of(lib), "");
}
END_TEST

START_TEST(links_between)
{
	write_file(below(FILE_NAME), GOOD, strlen(GOOD));
	ck_assert_int_eq(rename(below(".local"), below("moved")), 0);
	ck_assert_int_eq(symlink("moved", below(".local")), 0);
	ck_assert_str_eq(name_of(lib), "");
}
END_TEST

START_TEST(other_owner)
{
	if (geteuid()) {
		puts("other_owner: skipped, it takes root to make such a file");
		return;
	}
	write_file(below(FILE_NAME), GOOD, strlen(GOOD));
	ck_assert_int_eq(chown(below(FILE_NAME), 0, 0), 0);
	ck_assert_str_eq(name_of(lib), "");
}
END_TEST

/* Root may read it and the user may not: it is read as the user. */
START_TEST(not_as_root)
{
	if (geteuid()) {
		puts("not_as_root: skipped, it takes root to be another user");
		return;
	}
	write_file(below(FILE_NAME), GOOD, strlen(GOOD));
	ck_assert_int_eq(chown(below(DIR), 0, 0), 0);
	ck_assert_int_eq(chmod(below(DIR), 0700), 0);
	ck_assert_str_eq(name_of(lib), "");
}
END_TEST

/* The kinds of file that already open() does something with, or waits. */
static const struct {
	mode_t mode;
	unsigned int major;
	unsigned int minor;
	bool link; /* to such a file, elsewhere */
} kinds[] = {
	{ S_IFIFO, 0, 0, false }, { S_IFIFO, 0, 0, true },
	{ S_IFCHR, 1, 5, false },			    /* zero */
	{ S_IFCHR, 1, 5, true },  { S_IFCHR, 5, 2, false }, /* ptmx */
	{ S_IFCHR, 5, 2, true },
};

static bool was_opened(int watch)
{
	char events[4096];

	return read(watch, events, sizeof(events)) > 0;
}

START_TEST(not_opened)
{
	const char *path = below(kinds[_i].link ? "node" : FILE_NAME);
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), fd;

	ck_assert_int_ge(watch, 0);
	if (mknod(path, kinds[_i].mode | 0666,
		  makedev(kinds[_i].major, kinds[_i].minor))) {
		puts("not_opened: skipped, this user may make no device");
		close(watch);
		return;
	}
	own(path);
	chmod(path, 0666);
	if (kinds[_i].link)
		ck_assert_int_eq(symlink(path, below(FILE_NAME)), 0);
	ck_assert_int_ge(inotify_add_watch(watch, path, IN_OPEN), 0);
	ck_assert_str_eq(name_of(lib), "");
	ck_assert(!was_opened(watch));
	/* The watch would have seen it. */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	ck_assert(fd < 0 || was_opened(watch));
	close(fd);
	close(watch);
}
END_TEST

static long max_rss_mib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss >> 10;
}

/* Small texts that take a parser much memory, and more than there can be. */
static const struct {
	size_t size;
	const char *unit;
	size_t len;
} bombs[] = {
	{ 12 << 20, "{},", 3 },	    { (1 << 20) - 8, "{},", 3 },
	{ (1 << 20) - 8, "[", 1 },  { (1 << 20) - 8, "{\"a\":", 5 },
	{ (1 << 20) - 8, "\0", 1 },
};

START_TEST(bomb)
{
	char *text = malloc(bombs[_i].size);
	long before;
	size_t at;

	*text = '[';
	for (at = 1; at + bombs[_i].len < bombs[_i].size; at += bombs[_i].len)
		memcpy(text + at, bombs[_i].unit, bombs[_i].len);
	write_file(below(FILE_NAME), text, at);
	free(text);
	before = max_rss_mib();
	ck_assert_str_eq(name_of(lib), "");
	ck_assert_int_lt(max_rss_mib() - before, 48);
}
END_TEST

START_TEST(many_dirs)
{
	char path[128];
	int i;

	for (i = 0; i < 40; i++) {
		snprintf(path, sizeof(path), STORAGE "/x%d-containers", i);
		make_dirs(below(path));
		strcat(path, "/containers.json");
		write_file(below(path), "[]", 2);
	}
	/* However long the reads take: a second is all that they get. */
	unit_frozen_ns = shr_now_ns();
	ck_assert_str_eq(name_of(lib), "");
	unit_frozen_ns = 0;
	/* The list, and two files in each of eight. */
	ck_assert_uint_eq(reads, 1 + 2 * 8);
}
END_TEST

/* A second look soon after does not read again what was found. */
START_TEST(kept)
{
	unsigned int once;

	write_file(below(FILE_NAME), GOOD, strlen(GOOD));
	ck_assert_str_eq(name_of(lib), "infer");
	once = reads;
	write_file(below(FILE_NAME), "[]", 2);
	ck_assert_str_eq(name_of(lib), "infer");
	ck_assert_uint_le(reads, once + 2);
}
END_TEST

/* A file that was read is recognised by its numbers. */
START_TEST(unchanged)
{
	struct gp_place place = {
		.uid = user,
		.gid = user,
		.base = home,
		.path = FILE_NAME,
	};
	struct gp_file_id id = { 0 };
	char text[256];

	write_file(below(FILE_NAME), GOOD, strlen(GOOD));
	ck_assert_int_eq(gp_place_read(&place, &id, text, sizeof(text)),
			 strlen(GOOD));
	ck_assert_int_eq(gp_place_read(&place, &id, text, sizeof(text)),
			 -EALREADY);
	write_file(below(FILE_NAME), GOOD " ", strlen(GOOD) + 1);
	ck_assert_int_eq(gp_place_read(&place, &id, text, sizeof(text)),
			 strlen(GOOD) + 1);
	ck_assert_int_eq(gp_place_read(&place, &id, text, 10), -EFBIG);
	place.base = "/nowhere";
	ck_assert_int_eq(gp_place_read(&place, &id, text, 10), -ENOENT);
}
END_TEST

static void *serve(void *arg)
{
	unit_fuse_serve_nothing(*(int *)arg);
	return NULL;
}

/* The user's mount has the request and answers never. */
START_TEST(never_answers)
{
	struct gp_place place = {
		.uid = user,
		.gid = user,
		.base = home,
		.path = FILE_NAME,
	};
	struct gp_file_id id = { 0 };
	pthread_t server;
	char text[16];
	unsigned int i;
	int fd;

	fd = unit_fuse_mount(below(STORAGE), S_IFDIR | 0755, user);
	if (fd < 0) {
		printf("never_answers: skipped, no FUSE here: %s\n",
		       strerror(-fd));
		return;
	}
	pthread_create(&server, NULL, serve, &fd);
	write_file(below("elsewhere"), GOOD, 2);
	ck_assert_str_eq(name_of(lib), "");
	ck_assert_uint_eq(reads, 1);
	/* The user is not asked again soon, nor for anything else. */
	ck_assert_str_eq(name_of(lib), "");
	shr_sleep_ns(300 * 1000000ULL);
	ck_assert_str_eq(name_of(lib), "");
	ck_assert_uint_eq(reads, 1);
	/* Processes that can't be ended are of a bounded number. */
	for (i = 1; i < 8; i++)
		ck_assert_int_eq(gp_place_read(&place, &id, text, sizeof(text)),
				 -ETIMEDOUT);
	ck_assert_int_eq(gp_place_read(&place, &id, text, sizeof(text)),
			 -EBUSY);
	umount2(below(STORAGE), MNT_DETACH);
	pthread_cancel(server);
	pthread_join(server, NULL);
	close(fd);
	wait_for_children();
	place.path = "elsewhere";
	ck_assert_int_eq(gp_place_read(&place, &id, text, sizeof(text)), 2);
}
END_TEST

/* All users together can take only so much of the time. */
static ssize_t slow_place(void *be, const struct gp_place *place,
			  struct gp_file_id *id, char *buf, size_t size)
{
	(void)be;
	(void)place;
	(void)id;
	(void)buf;
	(void)size;
	reads++;
	shr_sleep_ns(600 * 1000000ULL);
	return -ENOENT;
}

START_TEST(all_slow)
{
	struct gpreempt_container c;
	unsigned int i;

	ops.read_place = slow_place;
	for (i = 0; i < 5; i++) {
		snprintf(passwd, sizeof(passwd), "u:x:%u:1::/h%u:/bin/sh\n",
			 1000 + i, i);
		snprintf(cgroup, sizeof(cgroup),
			 "0::/user.slice/user-%u.slice/"
			 "docker-" ID ".scope\n",
			 1000 + i);
		ck_assert_int_eq(gpreempt_container(lib, PID, &c), 0);
		ck_assert_str_eq(c.name, "");
	}
	ck_assert_uint_eq(reads, 2);
}
END_TEST

int main(void)
{
	TCase *tc = unit_case();

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, honest);
	tcase_add_test(tc, links);
	tcase_add_test(tc, links_between);
	tcase_add_test(tc, other_owner);
	tcase_add_test(tc, not_as_root);
	tcase_add_loop_test(tc, not_opened, 0, ARRAY_SIZE(kinds));
	tcase_add_loop_test(tc, bomb, 0, ARRAY_SIZE(bombs));
	tcase_add_test(tc, many_dirs);
	tcase_add_test(tc, kept);
	tcase_add_test(tc, unchanged);
	tcase_add_test(tc, never_answers);
	tcase_add_test(tc, all_slow);
	return unit_run("home");
}
