// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings: their text, and a suspend and resume of the virtual machine played
 * again here, without driver and GPU. The fixture is what tests/vm/cases/
 * command/replay.sh printed; its first record says which kernel that was.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/backend/recording.h"
#include "unit.h"

#define FIXTURE "tests/unit/fixtures/suspend-resume.rec"
#define HEAD	"gpreempt-recording - version: 1.0\n# " GP_RECORDING_COLUMNS "\n"

static char path[64];
static char logged[256];

static void note(void *data, const char *text)
{
	(void)data;
	snprintf(logged, sizeof(logged), "%s", text);
}

static void setup(void)
{
	strcpy(path, "/tmp/gpreempt-test-XXXXXX");
	close(mkstemp(path));
	logged[0] = '\0';
}

static void teardown(void)
{
	unlink(path);
}

static int open_lib(const char *record, const char *replay,
		    struct gpreempt **out)
{
	const struct gpreempt_options options = {
		.size = sizeof(options),
		.log = note,
		.record = record,
		.replay = replay,
	};

	return gpreempt_new(&options, out);
}

static int replay_text(const char *text, struct gpreempt **out)
{
	FILE *f = fopen(path, "w");

	fputs(text, f);
	fclose(f);
	return open_lib(NULL, path, out);
}

/* The process of the fixture: of whom something is suspended. */
static pid_t fixture_pid(void)
{
	char line[65536];
	FILE *f = fopen(FIXTURE, "r");
	int pid = 0;

	ck_assert_ptr_nonnull(f);
	while (!pid && fgets(line, sizeof(line), f))
		sscanf(line, "trap:suspend %d", &pid);
	fclose(f);
	ck_assert_int_gt(pid, 0);
	return pid;
}

START_TEST(from_the_machine)
{
	const struct gpreempt_session_queue *queues;
	struct gpreempt_session *s;
	struct gpreempt_outcome out;
	struct gpreempt_error err;
	struct gpreempt *lib;
	pid_t pid = fixture_pid();
	size_t count;

	ck_assert_int_eq(open_lib(NULL, FIXTURE, &lib), 0);
	ck_assert_int_eq(gpreempt_session_open(lib, pid, &s, &err), 0);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), 0);
	ck_assert_uint_eq(out.requested, 3);
	ck_assert_uint_eq(out.done, 3);
	/* It takes as long as it took. */
	ck_assert_uint_gt(out.ioctl_ns, 1000);
	ck_assert_int_eq(gpreempt_session_verify(s), GPREEMPT_VERIFIED);
	/* The queue that came meanwhile. */
	ck_assert_int_eq(gpreempt_session_wait(s, 50000000, NULL),
			 GPREEMPT_EVENT_QUEUES | GPREEMPT_EVENT_SIGNAL);
	queues = gpreempt_session_queues(s, &count);
	ck_assert_uint_eq(count, 4);
	ck_assert(queues[3].held);
	ck_assert_int_eq(gpreempt_session_resume(s, NULL, &out), 0);
	ck_assert_uint_eq(out.done, 4);
	ck_assert_int_eq(gpreempt_session_close(s), 0);
	gpreempt_free(lib);
}
END_TEST

START_TEST(other_calls)
{
	struct gpreempt_session *s;
	struct gpreempt_error err;
	struct gpreempt_outcome out;
	struct gpreempt *lib;
	pid_t pid = fixture_pid();

	ck_assert_int_eq(open_lib(NULL, FIXTURE, &lib), 0);
	/* Of another process nothing is known. */
	ck_assert_int_eq(gpreempt_session_open(lib, pid + 1, &s, &err), -ESRCH);
	ck_assert_int_eq(gpreempt_session_open(lib, pid, &s, &err), 0);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), 0);
	/* It was dispatched then, not resumed. */
	ck_assert_int_eq(gpreempt_session_resume(s, NULL, &out), -EBADMSG);
	gpreempt_session_close(s);
	gpreempt_free(lib);
}
END_TEST

static const struct {
	const char *text;
	int ret;
	const char *log;
} bad[] = {
	{ "", -EPROTO, "line 1 " },
	{ "gpreempt-recording - version: 2.0\n", -EPROTO, "line 1 " },
	{ "gpreempt-queues - version: 1.0\n", -EPROTO, "line 1 " },
	{ "gpreempt-recording - version: 1.0\n", -EPROTO, "line 2 " },
	{ "gpreempt-recording - version: 1.0\n# call\n", -EPROTO, "line 2 " },
	{ HEAD "file 0 /a 1 0 0\n", -EPROTO, "line 3 " },
	{ HEAD "file 0 /a 1 0 0 x", -EPROTO, "line 3 " },
	{ HEAD "file 0 /a 1x 0 0 x\n", -EPROTO, "line 3 " },
	{ HEAD "file - /a 1 0 0 x\n", -EPROTO, "line 3 " },
	{ HEAD "file 0 /a 1 0 0 \\\n", -EPROTO, "line 3 " },
	{ HEAD "file 0 /a 1 0 0 \\18\n", -EPROTO, "line 3 " },
	{ HEAD "file 0 /a 1 0 0 \\777\n", -EPROTO, "line 3 " },
	{ HEAD "file 0 /a 99999999999999999999 0 0 -\n", -EPROTO, "line 3 " },
	{ HEAD "a-name-that-is-much-too-long 0 /a 1 0 0 x\n", -EPROTO,
	  "line 3 " },
	{ HEAD "\n", -EPROTO, "line 3 " },
};

START_TEST(refused)
{
	struct gpreempt *lib = NULL;

	ck_assert_int_eq(replay_text(bad[_i].text, &lib), bad[_i].ret);
	ck_assert_ptr_null(lib);
	ck_assert_msg(strstr(logged, bad[_i].log), "%s", logged);
}
END_TEST

START_TEST(files)
{
	struct gpreempt *lib = NULL;
	struct stat st;

	ck_assert_int_eq(open_lib(NULL, "/no/such", &lib), -ENOENT);
	ck_assert_int_eq(open_lib("/no/such/file", NULL, &lib), -ENOENT);
	ck_assert_int_eq(open_lib(path, path, &lib), -EINVAL);
	chmod(path, 0644);
	unlink(path);
	ck_assert_int_eq(open_lib(path, NULL, &lib), 0);
	gpreempt_free(lib);
	stat(path, &st);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	/* Nothing but the kernel's name, and it can be replayed. */
	ck_assert_int_eq(open_lib(NULL, path, &lib), 0);
	gpreempt_free(lib);
	ck_assert_int_eq(open_lib("/dev/full", NULL, &lib), 0);
	gpreempt_free(lib);
	ck_assert_str_eq(logged,
			 "the recording could not be written to its end");
}
END_TEST

/* What this host says of this process, and the same from the file. */
START_TEST(round_trip)
{
	uint64_t live = 0, again = 0;
	struct gpreempt_error first = { 0 }, second = { 0 };
	struct gpreempt_process_list *list;
	struct gpreempt *lib;
	int ret;

	ck_assert_int_eq(open_lib(path, NULL, &lib), 0);
	ck_assert_int_eq(gpreempt_start_time(lib, getpid(), &live), 0);
	gpreempt_check(lib, getpid(), &first);
	ret = gpreempt_processes_read(lib, &list, NULL);
	if (!ret)
		gpreempt_processes_free(list);
	gpreempt_free(lib);
	ck_assert_int_eq(open_lib(NULL, path, &lib), 0);
	ck_assert_int_eq(gpreempt_start_time(lib, getpid(), &again), 0);
	ck_assert_uint_eq(again, live);
	gpreempt_check(lib, getpid(), &second);
	ck_assert_int_eq(second.reason, first.reason);
	ck_assert_int_eq(gpreempt_start_time(lib, 1, &again), -ESRCH);
	gpreempt_free(lib);
}
END_TEST

/* Each byte there is, and cells that look like none. */
START_TEST(bytes)
{
	struct gp_record in = { .call = "file",
				.key = "/a b\\c",
				.ret = -5,
				.ns = 6,
				.value = 7,
				.pid = 8 };
	struct gp_record out;
	char all[256], *text = NULL;
	size_t i, size = 0;
	FILE *f;

	for (i = 0; i < sizeof(all); i++)
		all[i] = i;
	in.data = all;
	in.len = sizeof(all);
	f = open_memstream(&text, &size);
	ck_assert_int_eq(gp_record_write(f, &in), 0);
	fclose(f);
	ck_assert_int_eq(text[size - 1], '\n');
	text[size - 1] = '\0';
	ck_assert_int_eq(gp_record_parse(text, &out), 0);
	ck_assert_str_eq(out.call, "file");
	ck_assert_str_eq(out.key, "/a b\\c");
	ck_assert_int_eq(out.ret, -5);
	ck_assert_uint_eq(out.ns, 6);
	ck_assert_uint_eq(out.value, 7);
	ck_assert_int_eq(out.pid, 8);
	ck_assert_uint_eq(out.len, sizeof(all));
	ck_assert(!memcmp(out.data, all, sizeof(all)));
	gp_record_free(&out);
	free(text);
	f = open_memstream(&text, &size);
	in.data = "-";
	in.len = 1;
	gp_record_write(f, &in);
	fclose(f);
	ck_assert_str_eq(text, "file 8 /a\\040b\\134c -5 6 7 \\055\n");
	free(text);
}
END_TEST

/* What is read comes in order, and the last of it again and again. */
START_TEST(order)
{
	struct gpreempt *lib;
	uint64_t ticks;
	int i;

	ck_assert_int_eq(replay_text(HEAD
				     "file 0 /proc/7/stat 9 0 0 7\\040(a)\\0403\\0404\\0405\\0406"
				     "\\0407\\0408\\0409\\04010\\04011\\04012\\04013\\04014\\04015"
				     "\\04016\\04017\\04018\\04019\\04020\\04021\\04022\\0401001\n"
				     "file 0 /proc/8/stat -2 0 0 -\n"
				     "file 0 /proc/7/stat -13 0 0 -\n",
				     &lib),
			 0);
	ck_assert_int_eq(gpreempt_start_time(lib, 7, &ticks), 0);
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(gpreempt_start_time(lib, 7, &ticks), -EACCES);
	ck_assert_int_eq(gpreempt_start_time(lib, 8, &ticks), -ESRCH);
	gpreempt_free(lib);
}
END_TEST

int main(void)
{
	TCase *tc = unit_case();

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, from_the_machine);
	tcase_add_test(tc, other_calls);
	tcase_add_loop_test(tc, refused, 0, ARRAY_SIZE(bad));
	tcase_add_test(tc, files);
	tcase_add_test(tc, round_trip);
	tcase_add_test(tc, bytes);
	tcase_add_test(tc, order);
	return unit_run("replay");
}
