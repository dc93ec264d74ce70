// SPDX-License-Identifier: GPL-2.0-only
/* Files that are replaced in one step, in a directory that others write to. */
#include <dirent.h>
#include <sys/resource.h>

#include "unit-command.h"

static const char path[] = "file", other[] = "other";

static void expect(const char *file, const char *text)
{
	ck_assert_str_eq(unit_file(file), text);
}

static size_t count_files(void)
{
	DIR *d = opendir(".");
	size_t n = 0;

	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static int replace(const char *text)
{
	return shr_file_replace(path, 0644, text, strlen(text));
}

TEST(made_and_replaced)
{
	struct stat st;

	umask(077);
	ck_assert_int_eq(shr_file_check(path), 0);
	ck_assert_uint_eq(count_files(), 0);
	ck_assert_int_eq(replace("one"), 0);
	expect(path, "one");
	ck_assert_int_eq(replace("two, which is longer"), 0);
	expect(path, "two, which is longer");
	ck_assert_int_eq(shr_file_check(path), 0);
	expect(path, "two, which is longer");
	ck_assert_uint_eq(count_files(), 1);
	/* A collector that is another user reads it, whatever our umask. */
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0644);
}

TEST(absolute_path)
{
	char dir[PATH_MAX];

	ck_assert_ptr_nonnull(getcwd(dir, sizeof(dir)));
	ck_assert_int_eq(shr_file_replace(unit_text("%s/file", dir), 0644, "here", 4), 0);
	expect(path, "here");
}

/* Another kind of file stays as it is, and no file is made. */
static void expect_refused(int code)
{
	size_t n = count_files();

	alarm(UNIT_LIMIT_S); /* a FIFO that is opened waits for ever */
	ck_assert_int_eq(shr_file_check(path), code);
	ck_assert_int_eq(replace("x"), code);
	alarm(0);
	ck_assert_uint_eq(count_files(), n);
	ck_assert_ptr_nonnull(strstr(shr_file_reason(code), "not a regular file"));
}

TEST(links)
{
	struct stat st;

	make_text(other, "precious");
	ck_assert_int_eq(symlink(other, path), 0);
	expect_refused(-ENOTSUP);
	expect(other, "precious");
	ck_assert_int_eq(lstat(path, &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	/* A link that points nowhere is refused, too. */
	unlink(other);
	expect_refused(-ENOTSUP);
	ck_assert_int_lt(lstat(other, &st), 0);
}

TEST(fifos_and_devices)
{
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	expect_refused(-ENXIO);
	ck_assert_int_eq(shr_file_check("/dev/null"), -ENXIO);
	ck_assert_int_eq(shr_file_replace("/dev/null", 0644, "x", 1), -ENXIO);
}

TEST(directories)
{
	ck_assert_int_eq(mkdir(path, 0700), 0);
	expect_refused(-EISDIR);
	ck_assert_int_eq(shr_file_replace("file/", 0644, "x", 1), -EISDIR);
	ck_assert_int_eq(shr_file_replace("file/..", 0644, "x", 1), -EISDIR);
	ck_assert_int_eq(shr_file_check("none/file"), -ENOENT);
	ck_assert_str_eq(shr_file_reason(-ENOENT), strerror(ENOENT));
}

/* The names that an earlier version used, laid as traps. */
TEST(foreseen_name)
{
	static const char trap[] = "file.new";

	make_text(other, "precious");
	ck_assert_int_eq(symlink(other, trap), 0);
	ck_assert_int_eq(shr_file_check(path), 0);
	ck_assert_int_eq(replace("x"), 0);
	expect(path, "x");
	expect(other, "precious");
	unlink(trap);
	ck_assert_int_eq(mkfifo(trap, 0600), 0);
	alarm(UNIT_LIMIT_S);
	ck_assert_int_eq(replace("y"), 0);
	alarm(0);
	expect(path, "y");
	ck_assert_uint_eq(count_files(), 3);
}

/* No room: the old file stays, and no part of the new one. */
TEST(full)
{
	struct rlimit limit, old;

	make_text(path, "old");
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	limit.rlim_cur = 4;
	setrlimit(RLIMIT_FSIZE, &limit);
	ck_assert_int_eq(replace("more than four"), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	expect(path, "old");
	ck_assert_uint_eq(count_files(), 1);
}

/* The directory is another's, and nothing can be made in it. */
TEST(not_ours)
{
	make_text(path, "old");
	chmod(path, 0644);
	chmod(".", 0755);
	if (geteuid() == 0)
		ck_assert_int_eq(seteuid(65534), 0);
	else
		chmod(".", 0555);
	ck_assert_int_eq(shr_file_check(path), -EACCES);
	ck_assert_int_eq(replace("x"), -EACCES);
	expect(path, "old");
	if (geteuid() == 65534)
		ck_assert_int_eq(seteuid(0), 0);
	chmod(".", 0755);
}

TEST_FIXTURE(command_setup, command_teardown)
