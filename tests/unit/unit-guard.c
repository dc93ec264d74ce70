// SPDX-License-Identifier: GPL-2.0-only
#include <sys/prctl.h>

#include "unit-ctl.h"
#include "unit-guard.h"

#define VIEW "/sys/kernel/debug/gpreempt/"

char dir[32], out_path[64], err_path[64];
pid_t guard;
rlim_t descriptors;
void (*in_guard)(void);

void guard_setup(void)
{
	unit_setup();
	gp_loop_add_queue(&loop, 0);
	gp_loop_add_queue(&loop, 1);
	gp_loop_set_file(&loop, VIEW "pid/4194242/queues",
			 "gpreempt-queues - version: 1.1\n"
			 "# qid gpu_id type\n0 0xf7bc compute-aql\n"
			 "1 0xf7bc compute-aql\n");
	strcpy(dir, "/tmp/gpreempt-guard-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(out_path, sizeof(out_path), "%s/out", dir);
	snprintf(err_path, sizeof(err_path), "%s/err", dir);
	guard = 0;
	descriptors = 0;
	in_guard = NULL;
}

void guard_teardown(void)
{
	char command[64];

	if (guard) {
		kill(guard, SIGKILL);
		waitpid(guard, NULL, 0);
	}
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
	unit_teardown();
}

void with_module(void)
{
	gp_loop_set_file(&loop, VIEW "processes",
			 "gpreempt-processes - version: 1.0\n# pid\n4194242\n");
}

const char *text_of(const char *path)
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

void start(const char *words)
{
	char line[512], *argv[32], *word;
	pid_t parent = getpid();
	int argc = 0;

	snprintf(line, sizeof(line), "gpreempt-ctl guard %s", words);
	for (word = strtok(line, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
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

size_t count_in(const char *path, const char *what)
{
	const char *at = text_of(path);
	size_t n = 0;

	for (; (at = strstr(at, what)); at++)
		n++;
	return n;
}

void wait_for(const char *path, const char *what)
{
	uint64_t end = shr_now_ns() + UNIT_LIMIT_NS;

	while (!count_in(path, what)) {
		ck_assert_msg(shr_now_ns() < end && !waitpid(guard, NULL, WNOHANG),
			      "no \"%s\" in %s: %s", what, path, text_of(path));
		shr_sleep_ns(5 * NSEC_PER_MSEC);
	}
}

int end(int signal)
{
	int status;

	kill(guard, signal);
	ck_assert_int_eq(waitpid(guard, &status, 0), guard);
	guard = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
