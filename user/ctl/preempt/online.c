// SPDX-License-Identifier: GPL-2.0-only
/* While the targets are off the GPU: a time, or the online command. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "ctl/preempt/preempt.h"
#include "shared/clock.h"
#include "shared/macro.h"
#include "shared/syscall.h"

/* A command that is asked to end gets so long before it is killed. */
#define PATIENCE_NS (2 * NSEC_PER_SEC)

/* Has a target gone, or its session? */
static int check_events(struct preempt *p)
{
	size_t i;

	gpreempt_gang_members(p->gang, p->members, p->n_targets);
	for (i = 0; i < p->n_targets; i++) {
		const struct gpreempt_member *m = &p->members[i];

		if (m->events & GPREEMPT_EVENT_ENDED) {
			p->err = m->error;
			return -ESRCH;
		}
		if (m->events & GPREEMPT_EVENT_LOST)
			return ctl_set_error(&p->err, -ENOTCONN, GPREEMPT_LOST, m->pid,
					     "watching the process");
	}
	return 0;
}

/* In short pieces, so that the heart beats. */
int preempt_wait(struct preempt *p, uint64_t ns, int fd)
{
	uint64_t start = shr_now_ns();
	struct pollfd fds[] = {
		{ .fd = p->stop, .events = POLLIN },
		{ .fd = gpreempt_gang_fd(p->gang), .events = POLLIN },
		{ .fd = fd, .events = POLLIN },
	};

	for (;;) {
		uint64_t passed = shr_now_ns() - start;
		uint64_t left = passed < ns ? ns - passed : 0;
		struct timespec ts = { 0 };
		int ret;

		heartbeat_beat(&p->heartbeat);
		if (left > HEARTBEAT_TICK_NS)
			left = HEARTBEAT_TICK_NS;
		ts.tv_nsec = left;
		ret = ppoll(fds, ARRAY_SIZE(fds), &ts, NULL);
		if (ret < 0 && errno != EINTR)
			return ctl_set_error(&p->err, -errno, GPREEMPT_SYSTEM, 0, "waiting");
		if (ret > 0 && fds[0].revents) {
			p->interrupted = true;
			return -EINTR;
		}
		if (ret > 0 && fds[1].revents) {
			ret = check_events(p);
			if (ret)
				return ret;
		} else if (ret > 0 && fds[2].revents) {
			return 0;
		}
		if (passed >= ns)
			return 0;
	}
}

/* What the child was born with is ours: it gets what a command expects. */
static void become_command(const struct preempt *p, pid_t parent, int error)
{
	static const int ours[] = { SIGTSTP, SIGTTIN, SIGTTOU, SIGALRM, SIGPIPE };
	sigset_t none;
	size_t i;
	int code;

	for (i = 0; i < ARRAY_SIZE(ours); i++)
		signal(ours[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* When we are killed, it must end too. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	/* stdout is for the JSON. */
	if (p->args->mode == OUT_JSON)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	execvp(p->args->command[0], p->args->command);
	code = errno;
	if (write(error, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

static int fail_online(struct preempt *p, int code, const char *step)
{
	return ctl_set_error(&p->err, code, GPREEMPT_SYSTEM, p->targets[0].pid, step);
}

/* The child, once it has become the command. 0 or -errno. */
static int start(const struct preempt *p, pid_t *out)
{
	pid_t pid, parent = getpid();
	int code = 0, error[2];

	if (pipe2(error, O_CLOEXEC) < 0)
		return -errno;
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		become_command(p, parent, error[1]);
	if (pid < 0)
		code = errno;
	close(error[1]);
	/* Nothing comes from one that could be run. */
	while (!code && read(error[0], &code, sizeof(code)) < 0 && errno == EINTR)
		;
	close(error[0]);
	if (code && pid > 0)
		waitpid(pid, NULL, 0);
	*out = pid;
	return -code;
}

/* We stop before it has ended. It is not waited for with a target held. */
static void end_command(struct preempt *p, pid_t pid, int fd)
{
	uint64_t deadline = shr_now_ns() + PATIENCE_NS;

	gpreempt_gang_free(p->gang);
	p->gang = NULL;
	heartbeat_stop(&p->heartbeat);
	p->beating = false;
	shr_pidfd_send_signal(fd, SIGTERM);
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (shr_now_ns() > deadline)
			shr_pidfd_send_signal(fd, SIGKILL);
		shr_sleep_ns(10 * NSEC_PER_MSEC);
	}
}

int preempt_online(struct preempt *p)
{
	uint64_t began = shr_now_ns();
	__cleanup_fd int fd = -1;
	pid_t pid = 0;
	int ret;

	ret = start(p, &pid);
	if (ret)
		return fail_online(p, ret, "starting the online command");
	fd = shr_pidfd_open(pid);
	if (fd < 0) {
		ret = fail_online(p, -errno, "waiting for the online command");
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return ret;
	}
	ret = preempt_wait(p, UINT64_MAX, fd);
	if (ret) {
		end_command(p, pid, fd);
		return ret;
	}
	while (waitpid(pid, &p->online_status, 0) < 0)
		if (errno != EINTR)
			return fail_online(p, -errno, "waiting for the online command");
	if (preempt_add_sample(&p->online, shr_now_ns() - began))
		return fail_online(p, -ENOMEM, "keeping the samples");
	return p->online_status ? -ECHILD : 0;
}
