// SPDX-License-Identifier: GPL-2.0-only
/* Programs that stages of a trial start: none outlives it, and each wait has a limit. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "trial.h"

/* A suspend that the hardware does not answer takes the driver 9 s. */
#define ASK_NS (30 * NSEC_PER_SEC)

/* The child: Ctrl-C is for the trial alone, which ends its programs in order. */
static void become(char *const *argv, const struct trial_child *c, int signal, pid_t parent)
{
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, signal);
	if (getppid() != parent)
		_exit(127);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* They choose GPUs by other numbers than ours. */
	unsetenv("ROCR_VISIBLE_DEVICES");
	unsetenv("HIP_VISIBLE_DEVICES");
	if (dup2(c->out, STDOUT_FILENO) < 0 || dup2(c->err, STDERR_FILENO) < 0)
		_exit(126);
	execv(argv[0], argv);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	fflush(stderr);
	_exit(127);
}

bool trial_start(struct trial *t, char *const *argv, struct trial_child *c)
{
	/* A load may be stopped when we are killed; it holds nothing. */
	int signal = argv[0] == t->load ? SIGKILL : SIGTERM;
	pid_t parent = getpid();

	*c = (struct trial_child){ .pidfd = -1 };
	c->out = memfd_create("trial-out", MFD_CLOEXEC);
	c->err = memfd_create("trial-err", MFD_CLOEXEC);
	if (c->out >= 0 && c->err >= 0) {
		fflush(stdout);
		c->pid = fork();
		if (!c->pid)
			become(argv, c, signal, parent);
		if (c->pid > 0)
			c->pidfd = shr_pidfd_open(c->pid);
		if (c->pid > 0 && c->pidfd >= 0)
			return true;
	}
	snprintf(t->why, sizeof(t->why), "cannot start %s: %s", argv[0], strerror(errno));
	trial_end(c, SIGKILL, 0);
	return false;
}

bool trial_wait_fd(struct trial *t, int fd, uint64_t ns)
{
	struct pollfd fds[] = { { .fd = t->stop, .events = POLLIN },
				{ .fd = fd, .events = POLLIN } };
	struct timespec ts = shr_timespec(ns);

	if (t->stopped || ppoll(fds, ARRAY_SIZE(fds), &ts, NULL) < 0)
		return false;
	t->stopped = fds[0].revents;
	return !t->stopped && fds[1].revents;
}

bool trial_sleep(struct trial *t, uint64_t ns)
{
	trial_wait_fd(t, -1, ns);
	return !t->stopped;
}

static bool reap(struct trial_child *c)
{
	int status;

	if (!shr_child_gone(&c->pid, &status))
		return false;
	c->status = ctl_program_status(status);
	return true;
}

bool trial_wait(struct trial *t, struct trial_child *c, uint64_t ns)
{
	return !c->pid || (trial_wait_fd(t, c->pidfd, ns) && reap(c));
}

void trial_end(struct trial_child *c, int signal, uint64_t ns)
{
	if (c->pid > 0) {
		kill(c->pid, SIGCONT);
		kill(c->pid, signal);
		if (!shr_readable(c->pidfd, ns / NSEC_PER_MSEC))
			kill(c->pid, SIGKILL);
		/* Not even SIGKILL ends one that waits in the driver: init has it then. */
		if (shr_readable(c->pidfd, 5000))
			reap(c);
	}
	shr_close(&c->pidfd);
	shr_close(&c->out);
	shr_close(&c->err);
	c->pid = 0;
}

char *trial_output(int fd)
{
	struct stat st;
	char *text;
	ssize_t n;

	if (fstat(fd, &st))
		return shr_must(strdup(""));
	text = shr_must(malloc(st.st_size + 1));
	n = pread(fd, text, st.st_size, 0);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

struct json_object *trial_last(const struct trial_child *c)
{
	__cleanup_free char *text = trial_output(c->out);
	char *end = strrchr(text, '\n'), *line;

	if (!end)
		return NULL;
	*end = '\0';
	line = strrchr(text, '\n');
	return json_tokener_parse(line ? line + 1 : text);
}

int64_t trial_int(struct json_object *row, const char *key)
{
	struct json_object *value = json_object_object_get(row, key);

	if (!value)
		return GPREEMPT_UNKNOWN;
	return json_object_is_type(value, json_type_string) ?
		       strtoll(json_object_get_string(value), NULL, 0) :
		       json_object_get_int64(value);
}

void trial_note_why(struct trial *t, const char *name, int err)
{
	__cleanup_free char *text = trial_output(err);
	size_t len = strlen(text);
	const char *line;

	while (len && text[len - 1] == '\n')
		text[--len] = '\0';
	line = strrchr(text, '\n');
	snprintf(t->why, sizeof(t->why), "%s", !len ? name : line ? line + 1 : text);
}

struct json_object *trial_ask(struct trial *t, char *const *argv, uint64_t ns, int *status)
{
	struct json_object *found;
	struct trial_child c;
	char *text;

	*status = GPREEMPT_CLASS_FAILED;
	if (!trial_start(t, argv, &c))
		return NULL;
	if (trial_wait(t, &c, ns)) {
		*status = c.status;
	} else {
		kill(c.pid, SIGINT);
		if (shr_readable(c.pidfd, ASK_NS / NSEC_PER_MSEC))
			*status = TRIAL_CUT;
	}
	text = trial_output(c.out);
	found = json_tokener_parse(text);
	free(text);
	if (*status > 0 || (!found && !*status))
		trial_note_why(t, argv[1], c.err);
	trial_end(&c, SIGKILL, 0);
	return found;
}

void trial_snapshot(struct trial *t, const char *word)
{
	char tag[32], *argv[] = { (char *)t->lab, "snapshot", "-o", (char *)t->snapshot,
				  "--tag",	  tag,	      NULL };
	int status;

	if (!t->snapshot)
		return;
	snprintf(tag, sizeof(tag), "gpu%zu-%s", t->place, word);
	json_object_put(trial_ask(t, argv, ASK_NS, &status));
	if (!status)
		*t->why = '\0';
}
