// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command "guard" as a process of its own, with real workers: its refusals, its output and
 * files, its clients, its ends.
 */
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <gpreempt/online.h>

#include "hold/run-dir.h"
#include "unit-ctl.h"
#include "unit-guard.h"
#include "unit-host.h"

static const struct {
	const char *words, *why;
} wrong[] = {
	{ "--online 1", "--offline TARGET is needed" },
	{ "--offline 4194242", "--online TARGET is needed, or --duty" },
	{ "--offline 4194242 --online 1 --duty 10%", "without --online" },
	{ "--offline 4194242 --online 1 --offline-share 91%", "--offline-share is 90% at most" },
	{ "--offline 4194242 --online 1 --max-hold 0s", "--max-hold of no time" },
	{ "--offline 4194242 --online 1 --poll often", "--poll is busy, adaptive" },
	{ "--offline 4194242 --online 1 --poll 2s", "--poll is busy, adaptive" },
	{ "--offline 4194242 --duty 10% --max-hold 50ns", "these times cannot be had together" },
};

TEST_EACH(usage, ARRAY_SIZE(wrong))
{
	CTL(GPREEMPT_CLASS_USAGE, "guard %s", wrong[_i].words);
	ERR_HAS(wrong[_i].why);
	ERR_HAS("next: gpreempt-ctl guard --help");
	ck_assert_str_eq(loop.trace, "");
}

/* Options are refused before a target is touched. */
TEST(refused)
{
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "guard --online 1 --offline 4194242");
	ERR_HAS("arrivals cannot be seen without gpreempt.ko");
	CTL(GPREEMPT_CLASS_FAILED,
	    "guard --offline 4194242 --duty 50%% --metrics /no/such/dir/file");
	ERR_HAS("the metrics file /no/such/dir/file cannot be written");
	CTL(GPREEMPT_CLASS_FAILED,
	    "guard --offline 4194242 --duty 50%% --samples /no/such/dir/file");
	ERR_HAS("the samples file /no/such/dir/file cannot be written");
	ck_assert_str_eq(loop.trace, "");
	/* The error is not that of a cgroup of the old freezer. */
	unit_path_fails = "/proc/self/cgroup";
	unit_path_errno = EMFILE;
	CTL(GPREEMPT_CLASS_FAILED, "guard --offline 4194242 --duty 50%%");
	ERR_HAS("cannot read /proc/self/cgroup: Too many open files");
	ERR_HAS("next: raise the limit of open files: ulimit -n");
	unit_path_fails = NULL;
	ck_assert_str_eq(loop.trace, "");
}

/* There is one descriptor for signals of the end, and one for the figures. */
TEST_EACH(no_signals, 2)
{
	unit_signalfd_fails = 1 + _i;
	unit_signalfd_errno = ENODEV;
	start("--offline 4194242 --duty 50%");
	ck_assert_int_eq(end(0), GPREEMPT_CLASS_FAILED);
	ck_assert_uint_eq(count_in(err_path, "No such device"), 1);
	ck_assert_str_eq(text_of(out_path), "");
}

TEST(not_root)
{
	if (seteuid(65534) < 0)
		return;
	CTL(GPREEMPT_CLASS_PERMISSION, "guard --offline 4194242 --duty 50%%");
	ck_assert_int_eq(seteuid(0), 0);
}

TEST(no_such_cpu)
{
	start("--offline 4194242 --duty 50% --cpu 1000");
	ck_assert_int_eq(end(0), GPREEMPT_CLASS_FAILED);
	ck_assert_uint_eq(count_in(err_path, "the poller cannot be started"), 1);
	ck_assert_uint_eq(count_in(err_path, "is there such a CPU?"), 1);
}

/* Guard does not begin without its descriptors, and prints the reason. */
TEST(no_descriptors)
{
	int status;

	/* LeakSanitizer fails itself with fewer. */
	for (descriptors = 5; descriptors < 64; descriptors++) {
		start("--offline 4194242 --duty 50%");
		status = end(0);
		ck_assert_msg(status == GPREEMPT_CLASS_FAILED, "%lu descriptors: %d, %s",
			      (unsigned long)descriptors, status, text_of(err_path));
		ck_assert_ptr_nonnull(strstr(text_of(err_path), "Too many open files\nnext: "));
		ck_assert_ptr_null(strstr(text_of(err_path), "it failed"));
		ck_assert_ptr_null(strstr(text_of(err_path), "dmesg"));
		/* The message names no process. */
		ck_assert_ptr_null(strstr(text_of(err_path), "process "));
		ck_assert_str_eq(text_of(out_path), "");
	}
}

/* Open the socket of systemd. */
static int open_manager(char *path, size_t size)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(path, size, "%s/notify", dir);
	snprintf(at.sun_path, sizeof(at.sun_path), "%.100s", path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

static bool was_told(int fd, const char *what)
{
	char text[64];
	ssize_t n;

	while ((n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT)) > 0) {
		text[n] = '\0';
		if (!strcmp(text, what))
			return true;
	}
	return false;
}

/* A life without online: events, figures on SIGUSR1, files, the manager. */
TEST(duty)
{
	char words[512], notify[64], path[64];
	int fd = open_manager(notify, sizeof(notify));

	setenv("NOTIFY_SOCKET", notify, 1);
	snprintf(words, sizeof(words),
		 "--offline 4194242 --duty 50%% --max-hold "
		 "40ms --verbose --poll 1ms --samples %s/s --metrics %s/m",
		 dir, dir);
	start(words);
	wait_for(out_path, "process 4194242 is offline\n");
	wait_for(out_path, "suspended 4194242: duty, 2 of 2 queues");
	wait_for(out_path, "resumed 4194242: duty, 2 of 2 queues");
	ck_assert_int_eq(hold_lock(4194242), -EWOULDBLOCK);
	ck_assert(was_told(fd, "READY=1"));
	ck_assert(was_told(fd, "WATCHDOG=1"));
	kill(guard, SIGUSR1);
	wait_for(out_path, "\npreemptions ");
	ck_assert_int_eq(end(SIGTERM), 0);
	ck_assert(was_told(fd, "STOPPING=1"));
	ck_assert_uint_eq(count_in(out_path, "\npreemptions "), 2);
	ck_assert_uint_eq(count_in(out_path, "resumed idle 0 share 0 duty "), 2);
	snprintf(path, sizeof(path), "%s/m", dir);
	ck_assert_uint_eq(count_in(path, ",role=\"offline\"} 1\n"), 1);
	snprintf(path, sizeof(path), "%s/s", dir);
	ck_assert_uint_eq(count_in(path, "# arrival_to_ioctl_ns"), 1);
	/* Its target is free. */
	close(fd);
	fd = hold_lock(4194242);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

/* A file that cannot be written at the end is exit status 1. */
TEST(last_write_fails)
{
	char words[256], path[64];

	snprintf(path, sizeof(path), "%s/m", dir);
	snprintf(words, sizeof(words),
		 "--offline 4194242 --duty 50%% --json "
		 "--metrics %s",
		 path);
	start(words);
	wait_for(out_path, "\"event\":\"joined\"");
	wait_for(path, "gpreempt_guard_");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(end(SIGINT), GPREEMPT_CLASS_FAILED);
	ck_assert_uint_eq(count_in(err_path, "could not be written at the end"), 1);
	ck_assert_uint_eq(count_in(out_path, "\"event\":\"summary\""), 1);
}

/* A server's request is an arrival; root may have a target released. */
TEST(requests)
{
	struct gpreempt_online *online;
	size_t before;

	with_module();
	start("--online comm:serve --offline 4194242 --verbose --linger 1ms");
	wait_for(out_path, "process 4194242 is offline\n");
	ck_assert_int_eq(gpreempt_online_open(NULL, &online), 0);
	ck_assert_int_eq(gpreempt_online_begin(online), 1);
	wait_for(out_path, "suspended 4194242: arrival, 2 of 2 queues");
	ck_assert_int_eq(gpreempt_online_end(online), 0);
	wait_for(out_path, "resumed 4194242: idle, 2 of 2 queues");
	gpreempt_online_close(online);
	/*
	 * Here it can be two: a thread of guard may hold a lock of AddressSanitizer's allocator
	 * when guard forks a worker, which then never gets it and is killed for its silence.
	 */
	before = count_in(out_path, "process 4194242 is offline\n");
	CTL(0, "guard release 4194242");
	wait_for(out_path, "process 4194242 is released, as requested");
	ck_assert_int_eq(end(SIGTERM), 0);
	ck_assert_uint_eq(count_in(out_path, "process 4194242 is offline\n"), before);
}

/* One guard has the socket; a second one goes on without. */
TEST(second_guard)
{
	pid_t first;

	with_module();
	start("--online comm:serve --offline comm:train");
	UNIT_WAIT(!access(GUARD_SOCKET, F_OK));
	first = guard;
	start("--online comm:serve --offline 4194242");
	wait_for(err_path, "this guard cannot receive \"guard begin\"");
	wait_for(out_path, "process 4194242 is offline\n");
	ck_assert_int_eq(end(SIGTERM), 0);
	ck_assert_int_eq(access(GUARD_SOCKET, F_OK), 0);
	guard = first;
	ck_assert_int_eq(end(SIGTERM), 0);
	ck_assert_int_ne(access(GUARD_SOCKET, F_OK), 0);
}

/* A poller that was late is reported once, and guard goes on; as JSON, too. */
TEST_EACH(late, 2)
{
	unit_set_limit(UNIT_GUARD_LATE, NSEC_PER_SEC);
	start(_i ? "--offline 4194242 --duty 50% --json" :
		   "--offline 4194242 --duty 50% --verbose");
	wait_for(out_path, _i ? "\"event\":\"joined\"" : "suspended 4194242");
	kill(guard, SIGSTOP);
	shr_sleep_ns(1500 * NSEC_PER_MSEC);
	kill(guard, SIGCONT);
	wait_for(out_path, "the poller was not run for ");
	/* Some rounds more. */
	shr_sleep_ns(200 * NSEC_PER_MSEC);
	ck_assert_int_eq(end(SIGTERM), 0);
	ck_assert_uint_eq(count_in(out_path, "not run for 0.0 s"), 0);
	/* The event names no process. */
	ck_assert_uint_eq(count_in(out_path, "\"pid\":1,"), 0);
}

TEST_FIXTURE(guard_setup, guard_teardown)
