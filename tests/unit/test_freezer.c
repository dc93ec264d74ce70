// SPDX-License-Identifier: GPL-2.0-only
/* Cgroup of a process, whatever its user makes of the path, and whether it is frozen. */
#include "shared/cgroup.h"
#include "unit-host.h"
#include "unit.h"

#define WCHAN HOLD_DIR "-wchan"

static struct shr_freezer f;
static pid_t target;
static char text[SHR_CGROUP_PATH + 8]; /* contents of its /proc/PID/cgroup */

static void setup(void)
{
	unit_cgroups_start();
	target = unit_make_sleeper();
	unit_cgroup_of(target, text);
	/* A look that takes long is not repeated at once. */
	unit_frozen_ns = shr_now_ns();
}

static void teardown(void)
{
	shr_freezer_close(&f);
	unit_end(target);
	unit_cgroups_stop();
}

static void move(const char *group)
{
	snprintf(text, sizeof(text), "0::%s\n", group);
}

/* The answer of one look. */
static bool is_frozen(void)
{
	ck_assert_int_eq(shr_freezer_read(&f), 0);
	return f.frozen;
}

/* Look each 100 ms for so long. Returns the last answer. */
static bool is_frozen_later(uint64_t ns)
{
	uint64_t end = unit_frozen_ns + ns;

	while (unit_frozen_ns + 100 * NSEC_PER_MSEC <= end) {
		unit_frozen_ns += 100 * NSEC_PER_MSEC;
		is_frozen();
	}
	unit_frozen_ns = end;
	return f.frozen;
}

static char lines[256];

static int note_line(void *arg, const char *hierarchy, const char *path)
{
	sprintf(lines + strlen(lines), "%s %s;", hierarchy, path);
	return !strcmp(path, arg);
}

/* A line that is no cgroup's is skipped; the callback can end the walk. */
TEST(each_cgroup)
{
	static const struct {
		const char *text, *lines;
	} rows[] = {
		{ "0::/a/b\n", " /a/b;" },
		{ "4:memory:/a\n1:name=systemd:/b\n0::/\n", "memory /a;name=systemd /b; /;" },
		{ "0::/a:b", " /a:b;" },
		{ "0::/../../x\n", " /../../x;" },
		{ "0::/a\n0::/end\n0::/b\n", " /a; /end;" },
		{ "0::abc\n", "" },
		{ "0::\n", "" },
		{ "0:\n:\n::\nx\n\n\n", "" },
		{ "", "" },
	};
	char copy[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		*lines = '\0';
		strcpy(copy, rows[i].text);
		ck_assert_int_eq(shr_cgroup_each(copy, note_line, "/end"),
				 !!strstr(rows[i].lines, "/end"));
		ck_assert_str_eq(lines, rows[i].lines);
	}
}

/* Version 2, unless it is in a cgroup of the old freezer. */
TEST(parsed)
{
	static const struct {
		const char *text, *path;
		int ret;
	} rows[] = {
		{ "0::/a/b\n", "/a/b", 0 },
		{ "7:cpu,freezer:/job\n0::/a\n", "/job", -ENOTSUP },
		{ "0::/a\n7:freezer:/a/b\n", "/a/b", -ENOTSUP },
		{ "7:freezer,cpu:/a:b", "/a:b", -ENOTSUP },
		{ "7:cpu,freezer,cpuset:/x\n", "/x", -ENOTSUP },
		/* Its root cannot be frozen. */
		{ "7:freezer:/\n0::/a\n", "/a", 0 },
		{ "0::/freezer\n", "/freezer", 0 },
		{ "7:cpu,cpuacct:/freezer\n", "", 0 },
		{ "7:name=freezer:/job\n7:xfreezer:/j\n7:freezerx:/j\n", "", 0 },
		{ "0::abc\n", "", 0 },
		{ "0::/0123456789012345\n", "", -ENAMETOOLONG },
		{ "", "", 0 },
	};
	char copy[64], path[16];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		strcpy(copy, rows[i].text);
		ck_assert_int_eq(shr_cgroup_parse(copy, path, sizeof(path)), rows[i].ret);
		ck_assert_str_eq(path, rows[i].path);
	}
}

#define ID "0123abcd"

/* Components are compared, not texts, and the outermost one is the container's. */
TEST(container)
{
	static const struct {
		const char *path, *id, *cut;
	} rows[] = {
		{ "/docker/" ID, ID, "/docker/" ID },
		{ "/a/" ID "/sub/x", ID, "/a/" ID },
		{ "/a/docker-" ID ".scope", ID, "/a/docker-" ID ".scope" },
		{ "/a/libpod-" ID ".scope/container", ID, "/a/libpod-" ID ".scope" },
		{ "/k.slice:cri-containerd:" ID, ID, "/k.slice:cri-containerd:" ID },
		{ "/a/" ID "/b/" ID "/c", ID, "/a/" ID },
		{ "/a/x" ID, ID, NULL },
		{ "/a/" ID "x/b", ID, NULL },
		{ "/a/" ID "-x", ID, NULL },
		{ "/user.slice/session-3.scope", ID, NULL },
		/* An id of one letter is in most texts. */
		{ "/user.slice/session-3.scope", "s", NULL },
		{ "/user.slice/session-3.scope", "slice", "/user.slice" },
		{ "/a/b", "", NULL },
		{ "/a/b", "/a", NULL },
		{ "/", ID, NULL },
	};
	char copy[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		strcpy(copy, rows[i].path);
		ck_assert_int_eq(shr_cgroup_cut(copy, rows[i].id, strlen(rows[i].id)),
				 !!rows[i].cut);
		ck_assert_str_eq(copy, rows[i].cut ? rows[i].cut : rows[i].path);
	}
	ck_assert(shr_cgroup_goes_up("/a/../b") && shr_cgroup_goes_up(".."));
	ck_assert(!shr_cgroup_goes_up("/a..b/...") && !shr_cgroup_goes_up("/"));
}

static int levels;

static int count_level(void *arg, int dir)
{
	(void)arg;
	ck_assert_int_ge(dir, 0);
	return ++levels == 1000;
}

static int walk(const char *path)
{
	int root = shr_cgroup_root(), ret;

	levels = 0;
	ret = shr_cgroup_walk(root, path, count_level, NULL);
	close(root);
	return ret;
}

TEST(walks)
{
	char deep[SHR_CGROUP_PATH] = "";
	int before;

	unit_cgroup_long(deep, 200, 1);
	before = unit_count_descriptors();
	ck_assert_int_eq(walk("/"), 0);
	ck_assert_int_eq(levels, 0);
	ck_assert_int_eq(walk("/m/m"), 0);
	ck_assert_int_eq(levels, 2);
	/* The error is that of one level: the levels above it were there. */
	ck_assert_int_eq(walk("/m/m/x/m"), -ENOENT);
	ck_assert_int_eq(levels, 2);
	ck_assert_int_eq(walk("/m/../m"), -ENOENT);
	ck_assert_int_eq(levels, 1);
	ck_assert_int_eq(walk(deep), 0);
	ck_assert_int_eq(levels, SHR_CGROUP_LEVELS);
	ck_assert_int_eq(unit_count_descriptors(), before);
}

TEST(no_process)
{
	ck_assert_int_eq(shr_freezer_open(&f, 1 << 30), -ESRCH);
}

TEST(no_mount)
{
	move("/job");
	unit_cgroups_mounted(false, false);
	ck_assert_int_eq(shr_freezer_open(&f, target), -ENOENT);
	ck_assert(!f.frozen && f.events < 0);
	/* The freezer looks for nothing then. */
	ck_assert(!is_frozen() && !f.lost);
}

/* A process is frozen and thawed, moved without an event, and gone. */
TEST(a_process)
{
	unit_cgroup_make("/job/step");
	unit_cgroup_set("/else", true, true);
	move("/job/step");
	ck_assert_int_eq(shr_freezer_open(&f, target), 0);
	ck_assert(!f.frozen && f.events >= 0);
	ck_assert_str_eq(f.path, "/job/step");
	unit_cgroup_freeze("/job/step", true);
	ck_assert(is_frozen());
	unit_cgroup_freeze("/job/step", false);
	ck_assert(!is_frozen());
	move("/else");
	ck_assert(is_frozen());
	move("/");
	ck_assert(!is_frozen());
	ck_assert_int_lt(f.events, 0);
	strcpy(text, "7:freezer:/old\n0::/\n");
	ck_assert_int_eq(shr_freezer_read(&f), -ENOTSUP);
	ck_assert_str_eq(f.path, "/old");
	unit_end(target);
	ck_assert_int_eq(shr_freezer_read(&f), -ESRCH);
}

/* A name that can be cut off is not looked at: the cgroup above it decides. */
TEST(cut_path)
{
	char path[SHR_CGROUP_PATH] = "/u", above[SHR_CGROUP_PATH];

	unit_cgroup_long(path, 4000, 190);
	strcpy(above, path);
	memset(path + 4000, 'x', SHR_CGROUP_CUT - 4000);
	path[4000] = '/';
	move("/u");
	ck_assert_int_eq(shr_freezer_open(&f, target), 0);
	move(path);
	ck_assert(!is_frozen() && !f.lost);
	unit_cgroup_freeze(above, true);
	ck_assert(is_frozen());
	/* The result is the same if there is a cgroup of such a name. */
	unit_cgroup_make(path);
	ck_assert(is_frozen());
	unit_cgroup_freeze(above, false);
	ck_assert(!is_frozen() && !f.lost);
}

/* The freezer of level 32 decides for all levels below. */
TEST(deep_path)
{
	char path[SHR_CGROUP_PATH] = "";

	unit_cgroup_long(path, 2 * 1000, 1);
	move(path);
	ck_assert_int_eq(shr_freezer_open(&f, target), 0);
	ck_assert_uint_eq(f.levels, SHR_CGROUP_LEVELS);
	unit_cgroup_freeze(path, true);
	ck_assert(!is_frozen());
	path[2 * SHR_CGROUP_LEVELS] = '\0';
	unit_cgroup_freeze(path, true);
	ck_assert(is_frozen());
}

/* A path that cannot be read keeps the last state, and the cgroups above go on to count. */
TEST(lost)
{
	unit_cgroup_make("/u/z");
	move("/u/z");
	ck_assert_int_eq(shr_freezer_open(&f, target), 0);
	unit_cgroup_freeze("/u/z", true);
	ck_assert(is_frozen());
	strcpy(text, UNIT_CGROUP_TOO_LONG);
	ck_assert(is_frozen() && f.lost);
	unit_cgroup_freeze("/u/z", false);
	ck_assert(!is_frozen_later(NSEC_PER_SEC));
	unit_cgroup_set("/u", true, true);
	ck_assert(!is_frozen());
	ck_assert(is_frozen_later(2 * NSEC_PER_SEC));
	unit_cgroup_set("/u", false, false);
	ck_assert(!is_frozen_later(NSEC_PER_SEC));
	/* The process comes back, to another cgroup. */
	unit_cgroup_set("/else", true, true);
	move("/else");
	ck_assert(is_frozen() && !f.lost);
}

/* Errors of our own are no answer about the process. */
TEST(cannot_read)
{
	unit_cgroup_make("/u");
	move("/u");
	ck_assert_int_eq(shr_freezer_open(&f, target), 0);
	unit_cgroup_freeze("/u", true);
	ck_assert(is_frozen());
	unit_fail_path(unit_text("/proc/%d/cgroup", target), EMFILE);
	ck_assert(is_frozen());
	/* A path that leads nowhere, as while the process moves, changes nothing. */
	unit_path_fails = NULL;
	move("/u/gone");
	ck_assert(is_frozen() && f.lost);
	ck_assert_str_eq(f.path, "/u");
}

/* A neighbour does not freeze: cgroup.events has 0 for as long as that lasts. */
TEST(stuck_neighbour)
{
	unit_cgroup_make("/u/z");
	move("/u/z");
	ck_assert_int_eq(shr_freezer_open(&f, target), 0);
	unit_cgroup_set("/u", true, false);
	ck_assert(!is_frozen_later(NSEC_PER_SEC / 2));
	/* A move below the frozen cgroup changes nothing. */
	unit_cgroup_make("/u/y");
	move("/u/y");
	ck_assert(!is_frozen_later(NSEC_PER_SEC / 2));
	ck_assert(is_frozen_later(NSEC_PER_SEC / 2));
	unit_cgroup_set("/u", false, false);
	ck_assert(!is_frozen_later(NSEC_PER_SEC));
	/* Half a second is none. */
	unit_cgroup_set("/u", true, false);
	ck_assert(!is_frozen_later(NSEC_PER_SEC / 2));
	unit_cgroup_set("/u", false, false);
	ck_assert(!is_frozen_later(NSEC_PER_SEC / 2));
	unit_cgroup_set("/u", true, false);
	ck_assert(!is_frozen_later(NSEC_PER_SEC / 2));
}

static bool is_asleep(void)
{
	char stat[512];
	const char *state;

	shr_read_start(stat, sizeof(stat), "/proc/%d/stat", target);
	state = shr_stat_state(stat);
	return state && *state == 'S';
}

static void sleeps_in(const char *function)
{
	FILE *file = fopen(WCHAN, "we");

	fputs(function, file);
	fclose(file);
	unit_path_from = unit_text("/proc/%d/task/%d/wchan", target, target);
	unit_path_to = WCHAN;
}

/* The place of its thread shows it at once, also when its cgroup was never known. */
TEST(stands_in_the_freezer)
{
	UNIT_WAIT(is_asleep());
	strcpy(text, UNIT_CGROUP_TOO_LONG);
	sleeps_in("do_sys_poll");
	ck_assert_int_eq(shr_freezer_open(&f, target), 0);
	ck_assert(f.lost && !f.frozen);
	sleeps_in("get_signal");
	ck_assert(is_frozen_later(NSEC_PER_SEC));
	sleeps_in("do_sys_poll");
	ck_assert(!is_frozen_later(NSEC_PER_SEC));
	sleeps_in("do_freezer_trap");
	ck_assert(is_frozen_later(NSEC_PER_SEC));
	/* Neither its cgroup nor its thread's state can be seen. */
	sleeps_in("0");
	ck_assert(is_frozen_later(NSEC_PER_SEC));
	/* One of the two is known: the process runs. */
	unit_cgroup_make("/u");
	move("/u");
	ck_assert(!is_frozen_later(NSEC_PER_SEC));
	sleeps_in("get_signal");
	ck_assert(is_frozen_later(NSEC_PER_SEC));
	unlink(WCHAN);
}

TEST_FIXTURE(setup, teardown)
