// SPDX-License-Identifier: GPL-2.0-only
/* Main thread of guard: start, loop and end. */
#include <stdatomic.h>
#include <sys/mman.h>

#include "hold/run-dir.h"
#include "unit-ctl.h"
#include "unit-guard.h"
#include "unit-host.h"
#include "unit-pausable.h"

/*
 * The start
 */

static int nth;

static void fail_mmap(void)
{
	unit_mmap_fails = nth;
}

/* Memory that guard shares with its workers; with the child that looks for slow words. */
TEST_EACH(no_memory, 2)
{
	nth = 1 + _i;
	in_guard = fail_mmap;
	start("--offline cmd:none --duty 50%");
	ck_assert_int_eq(end(0), GPREEMPT_CLASS_FAILED);
	ck_assert_uint_eq(count_in(err_path, "Cannot allocate memory"), 1);
	/* The message names no process. */
	ck_assert_uint_eq(count_in(err_path, "process "), 0);
	ck_assert_str_eq(text_of(out_path), "");
}

static size_t children_of(pid_t pid)
{
	char path[64], text[256] = "";
	size_t n = 0;
	char *at;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	for (at = text; (at = strchr(at, ' ')); at++)
		n++;
	return n;
}

/* Guard itself never looks for a word whose search may take long. */
TEST(slow_words)
{
	start("--offline cmd:none --duty 50%");
	UNIT_WAIT(children_of(guard));
	ck_assert_int_eq(end(SIGTERM), 0);
	/* The slow word is the other role's, and behind another word. */
	with_module();
	start("--offline comm:none --online comm:none cmd:none");
	UNIT_WAIT(children_of(guard));
	ck_assert_int_eq(end(SIGTERM), 0);
}

/*
 * Over and over
 */

static int slave;

static void print_to_terminal(void)
{
	dup2(slave, STDOUT_FILENO);
}

/* The terminal shows its state each second. */
TEST(live)
{
	int terminal = unit_terminal_open(&slave), i;
	char text[4096];

	in_guard = print_to_terminal;
	start("--offline 4194242 --duty 50%");
	for (i = 0; i < 2; i++) {
		text[0] = '\0';
		unit_terminal_read(terminal, text, sizeof(text), "offline: ");
		unit_terminal_read(terminal, text, sizeof(text), " preemptions");
	}
	ck_assert_int_eq(end(SIGTERM), 0);
	close(terminal);
	close(slave);
}

/* The note comes only where the socket is open to all. */
TEST(socket_note)
{
	struct stat st;

	with_module();
	unlink(GUARD_SOCKET);
	start("--online comm:none --offline 4194242 --allow-uid 65533");
	wait_for(out_path, "process 4194242 is offline\n");
	ck_assert_int_eq(stat(GUARD_SOCKET, &st), 0);
	ck_assert_int_eq(end(SIGTERM), 0);
	ck_assert_uint_eq(count_in(err_path, "no access control lists there"),
			  (st.st_mode & 0004) != 0);
}

static const char *show_left(struct gp_loop *l)
{
	(void)l;
	return "gpreempt-queues - version: 1.3\n"
	       "# qid gpu_id evicted state age_ms\n0 0xf7bc 1 evicted 0\n";
}

/* Another program's pause keeps its target off the GPU: guard's exit status is that of resume. */
TEST(left_off)
{
	pid_t target = unit_make_sleeper();

	unit_teardown();
	unit_setup_for(target);
	gp_loop_add_queue(&loop, 0);
	unit_make_pausable(target);
	loop.view = show_left;
	start(unit_text("--offline %d --duty 1%% --how pause", target));
	wait_for(out_path, unit_text("another program paused process %d", target));
	ck_assert_int_eq(end(SIGTERM), GPREEMPT_CLASS_FAILED);
	ck_assert_uint_eq(count_in(err_path,
				   unit_text("process %d is not paused any more", target)),
			  1);
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
}

/* A guard that is stopped for good is killed, also without a target, and with it its worker. */
TEST_EACH(stopped, 2)
{
	int status;

	if (_i) {
		start("--offline 4194242 --duty 50% --verbose");
		wait_for(out_path, "suspended 4194242");
	} else {
		start("--offline cmd:none --duty 50%");
		UNIT_WAIT(children_of(guard));
	}
	unit_shorten_limit(UNIT_GUARD_SILENCE, NSEC_PER_SEC);
	kill(guard, SIGSTOP);
	ck_assert_int_eq(waitpid(guard, &status, 0), guard);
	guard = 0;
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void fail_second_poller(void)
{
	unit_unshare_fails = 2;
}

/* The thread that takes over from a stuck poller could not begin: another one does. */
TEST(stand_in)
{
	in_guard = fail_second_poller;
	start("--offline cmd:none --duty 50%");
	UNIT_WAIT(unit_threads(guard, "guard-poller\n") && unit_threads(guard, "guard-stand-in\n"));
	ck_assert_int_eq(end(SIGTERM), 0);
}

/*
 * The end
 */

static pid_t main_process;
static atomic_int *suspends; /* suspends that the worker, another process, has begun */

static void count_suspends(struct gp_loop *l, const char *call)
{
	(void)l;
	atomic_fetch_add(suspends, !strcmp(call, "suspend"));
}

/* The worker goes on while the main thread does nothing, and then has to end. */
static void be_late(void)
{
	int before;

	if (getpid() != main_process || !atomic_load(suspends))
		return;
	unit_before_ppoll = NULL;
	puts("late now");
	before = atomic_load(suspends);
	UNIT_WAIT(atomic_load(suspends) >= before + 2);
	kill(main_process, SIGTERM);
}

static void be_late_once(void)
{
	main_process = getpid();
	loop.before = count_suspends;
	unit_before_ppoll = be_late;
}

/* Results of a worker in the last moment are part of the figures. */
TEST(last_results)
{
	const char *late;
	int status;

	suspends = mmap(NULL, sizeof(*suspends), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	ck_assert(suspends != MAP_FAILED);
	in_guard = be_late_once;
	start("--offline 4194242 --duty 50% --max-hold 40ms --verbose");
	ck_assert_int_eq(waitpid(guard, &status, 0), guard);
	guard = 0;
	ck_assert_int_eq(status, 0);
	late = strstr(text_of(out_path), "late now\n");
	ck_assert_ptr_nonnull(late);
	ck_assert_msg(strstr(late, "suspended 4194242: duty, 2 of 2 queues"), "in: %s", late);
	munmap(suspends, sizeof(*suspends));
}

/* Note the leftovers when all has ended but the process: threads, worker, lock. */
static void note_rest(void)
{
	char path[64];
	FILE *f;
	int lock = hold_lock(4194242);

	snprintf(path, sizeof(path), "%s/rest", dir);
	f = fopen(path, "we");
	fprintf(f, "%zu threads, %s, %s", unit_threads(getpid(), ""), lock >= 0 ? "free" : "locked",
		waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD ? "no child" : "children");
	fclose(f);
}

static void note_rest_at_exit(void)
{
	atexit(note_rest);
}

TEST(nothing_left)
{
	char path[64];

	in_guard = note_rest_at_exit;
	with_module();
	start("--online comm:none --offline 4194242");
	wait_for(out_path, "process 4194242 is offline\n");
	ck_assert_int_eq(end(SIGTERM), 0);
	snprintf(path, sizeof(path), "%s/rest", dir);
	ck_assert_str_eq(text_of(path), "1 threads, free, no child");
}

TEST_FIXTURE(guard_setup, guard_teardown)
