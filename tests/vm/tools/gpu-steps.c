// SPDX-License-Identifier: GPL-2.0-only
/*
 * gpu-steps: a GPU process that does what it reads, a line at a time, and says
 * "done LINE MICROSECONDS" when it has done it. Its queues stay idle: it is for
 * what a process does around them.
 *
 *	open		/dev/kfd and an address space on each GPU
 *	init, shut	what hsa_init and hsa_shut_down do: the runtime on, off
 *	queue		one compute queue more
 *	caught		one queue more, and wait until the view shows it suspended
 *	destroy		all queues
 *	debug, undebug	a debug session of its own on itself, and its end
 *	threads N	N threads more, which sleep
 *	churn N		N threads that come and go, one after the other
 *	fork, vfork	a child that ends at once, one that executes "true"
 *	uninterruptible	the same, but the child is stopped (SIGSTOP) before: until it
 *			goes on, the first thread sleeps in state D
 *	leader		the first thread ends, another one reads on
 *	exit, abort	the end, without clearing up
 *	thread-exit	the same, by _exit() in another thread
 *	close		the end, with all cleared up
 *	exec COMMAND	becomes another program
 *
 * Words of the command line are lines that come first. Signals of SIGRTMIN are
 * counted; "signals" prints how many, and how many came out of order.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kfd_ioctl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../vgpu/load/process.h"

#define MAX_LINE	256
#define MAX_THREADS	1000
#define THREAD_STACK	65536
#define CAUGHT_LIMIT_US 3000000

static struct load_process proc;
static struct load_args args;
static const char *what; /* step that failed */
static atomic_int signals, disordered;
static char **words;

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

/* The values of the signals count up, so that a signal that overtook another shows. */
static void on_signal(int sig, siginfo_t *info, void *context)
{
	static int last;

	(void)sig;
	(void)context;
	if (info->si_code == SI_QUEUE && info->si_value.sival_int != ++last) {
		last = info->si_value.sival_int;
		atomic_fetch_add(&disordered, 1);
	}
	atomic_fetch_add(&signals, 1);
}

static void *sleep_on(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void *return_at_once(void *arg)
{
	return arg;
}

static void *exit_here(void *arg)
{
	(void)arg;
	_exit(0);
}

static int start_thread(pthread_t *thread, void *(*function)(void *arg))
{
	pthread_attr_t attr;
	int ret;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, THREAD_STACK);
	ret = pthread_create(thread, &attr, function, NULL);
	pthread_attr_destroy(&attr);
	return -ret;
}

static int add_threads(unsigned int n, void *(*function)(void *arg), bool join)
{
	pthread_t thread;
	int ret;

	what = "start a thread";
	for (; n; n--) {
		ret = start_thread(&thread, function);
		if (ret)
			return ret;
		if (join)
			pthread_join(thread, NULL);
	}
	return 0;
}

static int open_all(void)
{
	args.no_runtime = true;
	return load_process_open(&proc, &args, &what);
}

static int set_runtime(bool enable)
{
	int ret;

	what = "switch the runtime";
	ret = load_runtime(proc.kfd, enable);
	proc.runtime = enable && !ret;
	/* ROCr goes on with a driver that has no such ioctl. */
	return ret == -ENOTTY ? 0 : ret;
}

static int add_queue(void)
{
	return load_process_add_queues(&proc, &args, LOAD_COMPUTE, 1, &what);
}

/* Returns the place of a word in a line of the view; -1: it is not there. */
static int word_number(const char *line, const char *name)
{
	char copy[1024], *save, *word;
	int i = 0;

	snprintf(copy, sizeof(copy), "%s", line + strspn(line, "# "));
	for (word = strtok_r(copy, "\n ", &save); word; word = strtok_r(NULL, "\n ", &save), i++)
		if (!strcmp(word, name))
			return i;
	return -1;
}

static long number_at(const char *line, int n)
{
	for (line += strspn(line, " "); n > 0 && *line; n--) {
		line += strcspn(line, " ");
		line += strspn(line, " ");
	}
	return n ? -1 : strtol(line, NULL, 10);
}

/* Does the view say that the newest queue is suspended? */
static bool newest_is_suspended(void)
{
	long qid = proc.queues[proc.num_queues - 1].id;
	int qid_at = -1, suspended_at = -1;
	char path[64], line[1024];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/debug/gpreempt/pid/%d/queues", getpid());
	f = fopen(path, "r");
	while (f && !found && fgets(line, sizeof(line), f)) {
		if (line[0] == '#') {
			qid_at = word_number(line, "qid");
			suspended_at = word_number(line, "suspended");
		} else if (qid_at >= 0) {
			found = number_at(line, qid_at) == qid &&
				number_at(line, suspended_at) == 1;
		}
	}
	if (f)
		fclose(f);
	return found;
}

static int add_caught_queue(void)
{
	uint64_t start;
	int ret = add_queue();

	if (ret)
		return ret;
	start = now_us();
	while (!newest_is_suspended()) {
		what = "see it suspended";
		if (now_us() - start > CAUGHT_LIMIT_US)
			return -ETIMEDOUT;
		usleep(1000);
	}
	printf("caught %llu\n", (unsigned long long)(now_us() - start));
	return 0;
}

static int destroy_all(void)
{
	unsigned int i;
	int ret = 0;

	what = "destroy a queue";
	for (i = 0; i < proc.num_queues && !ret; i++) {
		ret = load_queue_destroy(proc.kfd, &proc.queues[i]);
		if (!ret)
			load_queue_free(proc.kfd, &proc.queues[i]);
	}
	if (!ret)
		proc.num_queues = 0;
	return ret;
}

/* The driver lets a process debug itself without ptrace. */
static int debug_itself(bool enable)
{
	struct kfd_ioctl_dbg_trap_args trap = {
		.pid = (uint32_t)getpid(),
		.op = enable ? KFD_IOC_DBG_TRAP_ENABLE : KFD_IOC_DBG_TRAP_DISABLE,
	};
	int fds[2];

	what = "debug itself";
	if (enable) {
		if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
			return -errno;
		trap.enable.dbg_fd = (uint32_t)fds[1];
	}
	return load_kfd_ioctl(proc.kfd, AMDKFD_IOC_DBG_TRAP, &trap);
}

static int wait_for_child(pid_t pid)
{
	int status;

	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ECHILD;
}

static int do_fork(void)
{
	pid_t pid = fork();

	what = "fork";
	if (!pid)
		_exit(0);
	return wait_for_child(pid);
}

static int run_true(bool stopped)
{
	pid_t pid = vfork();

	what = "vfork";
	if (!pid) {
		if (stopped)
			kill(getpid(), SIGSTOP);
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	return wait_for_child(pid);
}

static int do_vfork(void)
{
	return run_true(false);
}

static int do_uninterruptible(void)
{
	return run_true(true);
}

static int become(char *command)
{
	char *argv[32];
	size_t n = 0;

	for (command = strtok(command, " "); command && n < 31; command = strtok(NULL, " "))
		argv[n++] = command;
	argv[n] = NULL;
	what = "execute it";
	execvp(argv[0], argv);
	return -errno;
}

static int count_argument(const char *text)
{
	int n = atoi(text);

	return n < 0 || n > MAX_THREADS ? 0 : n;
}

static int print_signals(void)
{
	printf("signals %d disordered %d\n", atomic_load(&signals), atomic_load(&disordered));
	return 0;
}

static int close_all(void)
{
	int ret = load_process_close(&proc, &what);

	if (!ret)
		exit(0);
	return ret;
}

static int last_step(const char *name)
{
	if (!strcmp(name, "exit"))
		_exit(0);
	if (!strcmp(name, "abort"))
		abort();
	if (!strcmp(name, "thread-exit"))
		return add_threads(1, exit_here, true);
	what = "understand it";
	return -EINVAL;
}

static int run_step(char *line)
{
	size_t len = strcspn(line, " ");
	char *rest = line + len + (line[len] == ' ');
	static const struct {
		const char *name;
		int (*run)(void);
	} steps[] = {
		{ "open", open_all },
		{ "queue", add_queue },
		{ "caught", add_caught_queue },
		{ "destroy", destroy_all },
		{ "fork", do_fork },
		{ "vfork", do_vfork },
		{ "uninterruptible", do_uninterruptible },
		{ "signals", print_signals },
		{ "close", close_all },
	};
	size_t i;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (!strcmp(line, steps[i].name))
			return steps[i].run();
	if (!strcmp(line, "init") || !strcmp(line, "shut"))
		return set_runtime(line[0] == 'i');
	if (!strcmp(line, "debug") || !strcmp(line, "undebug"))
		return debug_itself(line[0] == 'd');
	if (!strncmp(line, "threads ", 8))
		return add_threads(count_argument(rest), sleep_on, false);
	if (!strncmp(line, "churn ", 6))
		return add_threads(count_argument(rest), return_at_once, true);
	if (!strncmp(line, "exec ", 5))
		return become(rest);
	return last_step(line);
}

/* False at the end of the input. */
static bool next_line(char *line)
{
	if (*words) {
		snprintf(line, MAX_LINE, "%s", *words++);
		return true;
	}
	if (!fgets(line, MAX_LINE, stdin))
		return false;
	line[strcspn(line, "\n")] = '\0';
	return true;
}

static void *read_steps(void *arg)
{
	char line[MAX_LINE], copy[MAX_LINE];

	while (next_line(line)) {
		uint64_t start = now_us();
		pthread_t self;
		int ret;

		if (!strcmp(line, "leader")) {
			printf("done leader 0\n");
			if (!start_thread(&self, read_steps))
				pthread_exit(NULL);
		}
		strcpy(copy, line);
		ret = run_step(copy);
		if (ret)
			printf("failed %s: %s: %s\n", line, what, strerror(-ret));
		else
			printf("done %s %llu\n", line, (unsigned long long)(now_us() - start));
	}
	/* The sender of the steps is done with them, not with the process. */
	sleep_on(NULL);
	return arg;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };
	char *defaults[] = { "gpu-steps", NULL };
	char err[128];

	(void)argc;
	setvbuf(stdout, NULL, _IOLBF, 0);
	action.sa_sigaction = on_signal;
	sigaction(SIGRTMIN, &action, NULL);
	if (load_args_parse(&args, 1, defaults, err, sizeof(err))) {
		fprintf(stderr, "gpu-steps: %s\n", err);
		return 2;
	}
	words = argv + 1;
	read_steps(NULL);
	return 0;
}
