// SPDX-License-Identifier: GPL-2.0-only
/* Workers as guard sees them: processes, here on a copy of the made-up driver. */
#include <sys/eventfd.h>

#include "guard/guard.h"
#include "unit-host.h"
#include "unit.h"

static struct guard_common *common;
static struct guard_job job;
static struct guard_worker *w;

static void setup(void)
{
	unit_setup();
	gp_loop_add_queue(&loop, 0);
	common = guard_channel_map(sizeof(*common));
	common->gpu_id[0] = 0xf7bc;
	common->late_ns = 3600 * NSEC_PER_SEC;
	atomic_store(&common->beat_ns, shr_now_ns());
	job = (struct guard_job){
		.target = PID,
		.lock = -1,
		.common = common,
		.wake = eventfd(0, EFD_NONBLOCK),
	};
}

static void start(void)
{
	ck_assert_int_eq(guard_worker_start(&job, &w), 0);
	UNIT_WAIT(atomic_load(&w->channel->state) == GUARD_READY);
}

TEST(life)
{
	struct guard_order order = { .nodes = 1 };
	struct guard_result result;
	char why[256] = "";

	start();
	guard_worker_order(w, &order);
	UNIT_WAIT(guard_channel_take(w->channel, &result));
	ck_assert_int_eq(result.code, 0);
	ck_assert_uint_eq(result.done, 1);
	ck_assert(!guard_worker_gone(w));
	guard_worker_quit(w);
	UNIT_WAIT(guard_worker_gone(w));
	ck_assert(WIFEXITED(w->status) && !WEXITSTATUS(w->status));
	guard_worker_why(w, why, sizeof(why));
	guard_worker_free(w);
}

/* Guard kills the worker, or its own watchdog does if guard does nothing. */
TEST_EACH(stopped, 2)
{
	char why[256];
	int status;

	start();
	unit_shorten_limit(UNIT_SILENCE, NSEC_PER_SEC);
	kill(w->child, SIGSTOP);
	if (_i) {
		UNIT_WAIT(guard_worker_gone(w));
		guard_worker_why(w, why, sizeof(why));
		ck_assert_str_eq(why, "its worker was killed by signal 9");
	} else {
		ck_assert_int_eq(waitpid(w->child, &status, 0), w->child);
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
}

/* A client's connection must not stay open because a worker has it. */
TEST(descriptors)
{
	int fds[2];
	char c;

	ck_assert_int_eq(pipe(fds), 0);
	start();
	close(fds[1]);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	ck_assert_int_eq(read(fds[0], &c, 1), 0);
	guard_worker_quit(w);
	UNIT_WAIT(guard_worker_gone(w));
	close(fds[0]);
	guard_worker_free(w);
}

/* Whatever becomes of guard: its workers end with it. */
TEST(guard_is_killed)
{
	int fds[2], status;
	pid_t guard, child = 0;
	char c;

	ck_assert_int_eq(pipe(fds), 0);
	guard = fork();
	if (!guard) {
		start();
		status = write(fds[1], &w->child, sizeof(w->child));
		for (;;)
			pause();
	}
	close(fds[1]);
	ck_assert_int_eq(read(fds[0], &child, sizeof(child)), sizeof(child));
	ck_assert_int_eq(kill(child, 0), 0);
	kill(guard, SIGKILL);
	waitpid(guard, &status, 0);
	/* The worker had the pipe only until it closed the descriptors that are not its own. */
	ck_assert_int_eq(read(fds[0], &c, 1), 0);
	UNIT_WAIT(kill(child, 0));
}

TEST(cannot_start)
{
	unit_fork_errno = EAGAIN;
	ck_assert_int_eq(guard_worker_start(&job, &w), -EAGAIN);
	ck_assert_ptr_null(w);
}

TEST_FIXTURE(setup, NULL)
