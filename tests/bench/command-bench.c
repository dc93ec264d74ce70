// SPDX-License-Identifier: GPL-2.0-only
/*
 * command-bench PID COUNT: how long "gpreempt-ctl suspend PID" and "resume PID" take,
 * from fork to end, by debug and by pause in turn. Prints a line "key value" for each,
 * the median of COUNT in us.
 */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/util.h"
#include "bench.h"

enum figure { SUSPEND_DEBUG, RESUME_DEBUG, SUSPEND_PAUSE, RESUME_PAUSE, FIGURES };

static const char *const names[FIGURES] = {
	"command_suspend_debug",
	"command_resume_debug",
	"command_suspend_pause",
	"command_resume_pause",
};

static uint64_t run(char **command)
{
	uint64_t start = now_ns();
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die("fork", errno);
	if (!pid) {
		dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		execvp(command[0], command);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		die(command[1], EPROTO);
	return now_ns() - start;
}

static uint64_t command(enum figure f, char *pid)
{
	char *suspend_debug[] = { "gpreempt-ctl", "suspend", pid, "--how", "debug", NULL };
	char *suspend_pause[] = { "gpreempt-ctl", "suspend", pid, "--how", "pause", NULL };
	char *resume[] = { "gpreempt-ctl", "resume", pid, NULL };

	switch (f) {
	case SUSPEND_DEBUG:
		return run(suspend_debug);
	case SUSPEND_PAUSE:
		return run(suspend_pause);
	default:
		return run(resume);
	}
}

int main(int argc, char **argv)
{
	struct shr_stats stats;
	uint64_t *samples[FIGURES];
	size_t i, f, count;

	if (argc != 3)
		return 2;
	count = strtoul(argv[2], NULL, 10);
	for (f = 0; f < FIGURES; f++)
		samples[f] = get(count, sizeof(uint64_t));
	for (i = 0; i < count; i++)
		for (f = 0; f < FIGURES; f++)
			samples[f][i] = command(f, argv[1]);
	for (f = 0; f < FIGURES; f++) {
		shr_stats(samples[f], count, &stats);
		printf("%s_us %.0f\n", names[f], stats.p50 / 1000.0);
	}
	printf("command_n %zu\n", count);
	return 0;
}
