// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plug-in of CRIU 4.0 and later. Before CRIU seizes a process that it is to dump, it
 * ends a hold of gpreempt on it. Otherwise CRIU could not trace a process that is held
 * by a debug session; and a pause of ours would be ended by that of CRIU's plug-in for
 * amdgpu, or, with drivers that count pauses, keep the process off the GPU for good.
 *
 * The dump fails, and nothing is changed, when the hold is not one that "gpreempt-ctl
 * resume" ends: that of guard or follow. The process is not held again: CRIU's log has
 * a line, after which "gpreempt-ctl suspend" does it.
 */
#include <criu/criu-plugin.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Limit for ending the hold. CRIU's own limit for the time before the dump is 10 s by default. */
#define LIMIT_MS 8000

enum { LEVEL_ERROR = 1, LEVEL_WARN = 2 };

/* CRIU's log. */
extern void print_on_level(unsigned int level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

extern char **environ;

/* Does a hold last? Each hold has one of these files for as long as it lasts. */
static bool is_held(int pid)
{
	static const char *const kinds[] = { "lock", "pause" };
	char path[64];
	size_t i;

	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/run/gpreempt/%d.%s", pid, kinds[i]);
		if (!access(path, F_OK))
			return true;
	}
	return false;
}

/*
 * Start the command with CRIU's environment and none of its descriptors; its output goes to
 * @out.
 */
static int start(int pid, int out, pid_t *child)
{
	char target[16];
	char *argv[] = { "gpreempt-ctl", "resume", target, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	int ret;

	snprintf(target, sizeof(target), "%d", pid);
	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&files, out, 1);
	posix_spawn_file_actions_adddup2(&files, out, 2);
	posix_spawn_file_actions_addclosefrom_np(&files, 3);
	ret = posix_spawn(child, GPREEMPT_CTL, &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return -ret;
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Read until the child's end closes the pipe; after the limit the child is killed. */
static void read_until_end(int in, pid_t child, char *text, size_t size)
{
	long end = now_ms() + LIMIT_MS, left;
	struct pollfd fd = { .fd = in, .events = POLLIN };
	size_t used = 0;
	char more[256];
	ssize_t n;

	for (;;) {
		left = end - now_ms();
		if (left <= 0)
			break;
		if (poll(&fd, 1, (int)left) <= 0)
			continue;
		n = read(in, more, sizeof(more));
		if (n <= 0)
			break;
		if ((size_t)n > size - 1 - used)
			n = (ssize_t)(size - 1 - used);
		memcpy(text + used, more, (size_t)n);
		used += (size_t)n;
	}
	text[used] = '\0';
	if (left <= 0)
		kill(child, SIGKILL);
}

/* Resume the process. 0, or -errno; @text gets the command's output. */
static int resume(int pid, char *text, size_t size)
{
	int fds[2], status, ret;
	pid_t child;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	ret = start(pid, fds[1], &child);
	close(fds[1]);
	if (!ret) {
		read_until_end(fds[0], child, text, size);
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
		if (!WIFEXITED(status))
			ret = -ETIMEDOUT;
		else if (WEXITSTATUS(status))
			ret = -EBUSY;
	}
	close(fds[0]);
	return ret;
}

/* -ENOTSUP: other plug-ins have this hook, too. */
static int pause_devices(int pid)
{
	char text[1024] = "";
	int ret;

	if (!is_held(pid))
		return -ENOTSUP;
	ret = resume(pid, text, sizeof(text));
	if (ret) {
		print_on_level(LEVEL_ERROR,
			       "gpreempt: process %d is held, and " GPREEMPT_CTL
			       " resume failed: %s\n%s",
			       pid, strerror(-ret), text);
		return -1;
	}
	print_on_level(LEVEL_WARN,
		       "gpreempt: process %d was held until now; to hold it "
		       "again: gpreempt-ctl suspend\n%s",
		       pid, text);
	return -ENOTSUP;
}

/* CRIU refuses one with more hooks than it knows. */
cr_plugin_desc_t CR_PLUGIN_DESC = {
	.name = "gpreempt",
	.init = cr_plugin_dummy_init,
	.exit = cr_plugin_dummy_exit,
	.version = CRIU_PLUGIN_VERSION,
	.max_hooks = CR_PLUGIN_HOOK__PAUSE_DEVICES + 1,
	.hooks[CR_PLUGIN_HOOK__PAUSE_DEVICES] = pause_devices,
};
