// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command guard as a process of its own, with real workers: its refusals, its output and
 * files, its clients, its main thread, its ends.
 */
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "hold/run-dir.h"
#include "unit-ctl.h"
#include "unit-host.h"
#include "unit-pausable.h"

/* For files of the test; what guard prints is in the other two. */
static char dir[32];
static const char *out_path, *err_path;
static pid_t guard;
/* How many the guard may have; 0: as many as we. */
static rlim_t descriptors;
/* A step of the guard process before it begins; NULL: none. */
static void (*in_guard)(void);

static void guard_setup(void)
{
	unit_setup();
	gp_loop_add_queue(&loop, 0);
	gp_loop_add_queue(&loop, 1);
	set_view(PID, "gpreempt-queues - version: 1.1\n"
		      "# qid gpu_id type\n0 0xf7bc compute-aql\n1 0xf7bc compute-aql\n");
	strcpy(dir, "/tmp/gpreempt-guard-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	out_path = unit_text("%s/out", dir);
	err_path = unit_text("%s/err", dir);
}

static void guard_teardown(void)
{
	if (guard)
		unit_end(guard);
	ck_assert_int_eq(system(unit_text("rm -rf %s", dir)), 0);
	unit_teardown();
}

static void with_module(void)
{
	set_file("/sys/kernel/debug/gpreempt/processes",
		 "gpreempt-processes - version: 1.0\n# pid\n4194242\n");
}

/* Until the next call. */
static const char *text_of(const char *path)
{
	static char text[1 << 18];
	FILE *f = fopen(path, "r");

	text[0] = '\0';
	if (!f)
		return text;
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return text;
}

static void start(const char *words)
{
	char line[512], *argv[32];
	pid_t parent = getpid();
	int argc;

	snprintf(line, sizeof(line), "gpreempt-ctl guard %s", words);
	argc = unit_words(line, argv);
	fflush(NULL);
	guard = fork();
	ck_assert_int_ge(guard, 0);
	if (guard)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || !freopen(out_path, "w", stdout) ||
	    !freopen(err_path, "w", stderr))
		_exit(99);
	if (descriptors)
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){ descriptors, descriptors });
	if (in_guard)
		in_guard();
	exit(ctl_main(argc, argv));
}

static size_t count_in(const char *path, const char *what)
{
	return unit_count(text_of(path), what);
}

/* For that in a file, while guard runs. */
static void wait_for(const char *path, const char *what)
{
	uint64_t end = unit_soon();

	while (!count_in(path, what)) {
		ck_assert_msg(shr_now_ns() < end && !waitpid(guard, NULL, WNOHANG),
			      "no \"%s\" in %s: %s", what, path, text_of(path));
		shr_sleep_ns(5 * NSEC_PER_MSEC);
	}
}

/* Its exit status; a negative number is the signal that has killed it. */
static int end(int signal)
{
	pid_t child = guard;

	kill(guard, signal);
	guard = 0;
	return unit_status(child);
}

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
	{ "--simulate world --config world", "a file of its own, without --config" },
	{ "--simulate world --online 1", "the file names the tenants" },
	{ "--config world --linger 3ms", "no option from --linger to --gang" },
	{ "--simulate world --gang", "no option from --linger to --gang" },
	{ "--offline 4194242 --online 1 --policy cat", "give a number of slots, too" },
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
	unit_fail_path("/proc/self/cgroup", EMFILE);
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
static int open_manager(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/notify", dir);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	setenv("NOTIFY_SOCKET", at.sun_path, 1);
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
	int fd = open_manager();

	start(unit_text("--offline 4194242 --duty 50%% --max-hold 40ms --verbose --poll 1ms "
			"--samples %s/s --metrics %s/m",
			dir, dir));
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
	ck_assert_uint_eq(count_in(unit_text("%s/m", dir), ",role=\"offline\"} 1\n"), 1);
	ck_assert_uint_eq(count_in(unit_text("%s/s", dir), "# arrival_to_ioctl_ns"), 1);
	/* Its target is free. */
	close(fd);
	fd = hold_lock(4194242);
	ck_assert_int_ge(fd, 0);
	close(fd);
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
	char text[256];

	shr_read_start(text, sizeof(text), "/proc/%d/task/%d/children", pid, pid);
	return unit_count(text, " ");
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

/* Commands to a guard that runs: its configuration, and requests of the program that asks. */
TEST_AS_ROOT(commands)
{
	FILE *file = fopen(unit_text("%s/conf", dir), "w");

	fputs("tenant 4194242 offline weight=300\ntenant comm:none online\n", file);
	fclose(file);
	with_module();
	start(unit_text("--config %s/conf", dir));
	wait_for(out_path, "process 4194242 is offline\n");
	CTL(0, "guard get");
	OUT_HAS("tenant 4194242 offline weight=300\n");
	CTL(0, "guard set policy slice=10ms");
	CTL(0, "guard get");
	OUT_HAS("slice=10ms");
	CTL(GPREEMPT_CLASS_USAGE, "guard set tenant comm:other weight=3");
	ERR_HAS("next: gpreempt-ctl guard get");
	CTL(0, "guard begin");
	OUT_LINE("process %d: 1 requests open", getppid());
	CTL(0, "guard end");
	OUT_LINE("process %d: 0 requests open", getppid());
	CTL(GPREEMPT_CLASS_FAILED, "guard end");
	ERR_HAS("has no request open\nnext: gpreempt-ctl guard begin");
	ck_assert_int_eq(end(SIGTERM), 0);
}

/* Another program's pause keeps its target off the GPU: guard's exit status is that of resume. */
TEST(left_off)
{
	pid_t target = unit_make_sleeper();

	unit_teardown();
	unit_setup_for(target);
	gp_loop_add_queue(&loop, 0);
	unit_make_pausable(target);
	loop.view = NULL;
	set_view(target, "gpreempt-queues - version: 1.3\n"
			 "# qid gpu_id evicted state age_ms\n0 0xf7bc 1 evicted 0\n");
	start(unit_text("--offline %d --duty 1%% --how pause", target));
	wait_for(out_path, unit_text("another program paused process %d", target));
	ck_assert_int_eq(end(SIGTERM), GPREEMPT_CLASS_FAILED);
	ck_assert_uint_eq(count_in(err_path,
				   unit_text("process %d is not paused any more", target)),
			  1);
	unit_end(target);
}

/* A guard that is stopped for good is killed, also without a target, and with it its worker. */
TEST_EACH(stopped_for_good, 2)
{
	if (_i) {
		start("--offline 4194242 --duty 50% --verbose");
		wait_for(out_path, "suspended 4194242");
	} else {
		start("--offline cmd:none --duty 50%");
		UNIT_WAIT(children_of(guard));
	}
	unit_shorten_limit(UNIT_GUARD_SILENCE, NSEC_PER_SEC);
	ck_assert_int_eq(end(SIGSTOP), -SIGKILL);
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

	suspends = unit_share(sizeof(*suspends));
	in_guard = be_late_once;
	start("--offline 4194242 --duty 50% --max-hold 40ms --verbose");
	ck_assert_int_eq(end(0), 0);
	late = strstr(text_of(out_path), "late now\n");
	ck_assert_ptr_nonnull(late);
	ck_assert_msg(strstr(late, "suspended 4194242: duty, 2 of 2 queues"), "in: %s", late);
}

/*
 * Note the leftovers when all has ended but the process: threads, worker, lock. Linux lists a
 * thread that has returned for a moment longer.
 */
static void note_rest(void)
{
	FILE *f = fopen(unit_text("%s/rest", dir), "we");
	int lock = hold_lock(4194242);
	uint64_t end = unit_soon();

	while (unit_threads(getpid(), "") > 1 && shr_now_ns() < end)
		shr_sleep_ns(NSEC_PER_MSEC);
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
	in_guard = note_rest_at_exit;
	with_module();
	start("--online comm:none --offline 4194242");
	wait_for(out_path, "process 4194242 is offline\n");
	ck_assert_int_eq(end(SIGTERM), 0);
	ck_assert_str_eq(text_of(unit_text("%s/rest", dir)), "1 threads, free, no child");
}

TEST_FIXTURE(guard_setup, guard_teardown)
