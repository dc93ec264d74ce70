// SPDX-License-Identifier: GPL-2.0-only
#include <ftw.h>

#include "unit-command.h"

static char origin[PATH_MAX];
static char dir[64];

void command_setup(void)
{
	ck_assert_ptr_nonnull(getcwd(origin, sizeof(origin)));
	strcpy(dir, "/tmp/gpreempt-unit-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void command_teardown(void)
{
	ck_assert_int_eq(chdir(origin), 0);
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void make_file(const char *path, const char *text, size_t len)
{
	char copy[PATH_MAX], *slash;
	FILE *file;

	snprintf(copy, sizeof(copy), "%s", path);
	for (slash = copy; (slash = strchr(slash + 1, '/')); *slash = '/') {
		*slash = '\0';
		mkdir(copy, 0755);
	}
	file = fopen(path, "w");
	ck_assert_msg(file, "%s cannot be made", path);
	ck_assert_uint_eq(fwrite(text, 1, len, file), len);
	ck_assert_int_eq(fclose(file), 0);
}

void make_text(const char *path, const char *text)
{
	make_file(path, text, strlen(text));
}

char *fixture_text(const char *fixture, size_t *len)
{
	return unit_load(unit_text("%s/%s", origin, fixture), len);
}

bool copy_fixture(const char *fixture, const char *path)
{
	size_t len;
	char *all = fixture_text(fixture, &len);

	if (all)
		make_file(path, all, len);
	free(all);
	return all;
}

mode_t mode_of(const char *path)
{
	struct stat st;

	ck_assert_msg(!lstat(path, &st), "there is no %s", path);
	return st.st_mode & 07777;
}

void snapshots_setup(void)
{
	command_setup();
	ck_assert(copy_fixture(DRIVER "mqds", "now/mqds"));
	ck_assert(copy_fixture(DRIVER "hqds", "now/hqds"));
	ck_assert(copy_fixture(DRIVER "rls", "now/rls"));
	ck_assert(copy_fixture(DRIVER "queues-144", "now/queues-144"));
	ck_assert(copy_fixture(DRIVER "queues-156", "now/queues-156"));
}

void make_other_rings(const char *path)
{
	size_t len;
	char *all = fixture_text(DRIVER "mqds", &len), *at;

	for (at = all; (at = strstr(at, "00000220: ")); at++)
		memcpy(at + 10, "0badf00d", 8);
	make_file(path, all, len);
	free(all);
}

void system_setup(void)
{
	unit_setup();
	command_setup();
}

void system_teardown(void)
{
	command_teardown();
	unit_teardown();
}

void write_plan(const char *more)
{
	make_text("e/experiment", unit_text("gpreempt-experiment - version: 1.0\n%s", more));
	ck_assert_int_eq(chmod("e", 0700), 0);
	ck_assert_int_eq(chmod("e/experiment", 0600), 0);
}

static sigset_t told;

static void take_program(struct gp_loop *l)
{
	const struct timespec none = { 0 };
	siginfo_t info;

	(void)l;
	if (sigtimedwait(&told, &info, &none) != SIGUSR1)
		return;
	unit_make_process(info.si_pid);
	set_view(info.si_pid, "gpreempt-queues - version: 1.4\n# qid gpu_id type\n"
			      "0 0xf7bc compute-aql\n1 0xf7bc sdma\n");
	set_file("/sys/class/kfd/kfd/proc/", unit_text("%d\n%d", PID, info.si_pid));
}

void take_programs(void)
{
	sigemptyset(&told);
	sigaddset(&told, SIGUSR1);
	sigprocmask(SIG_BLOCK, &told, NULL);
	loop.before_list = take_program;
}
