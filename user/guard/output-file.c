// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "guard/output-file.h"
#include "shared/atomic-file.h"
#include "shared/child.h"
#include "shared/clock.h"
#include "shared/macro.h"

#define PAUSE_NS (2 * NSEC_PER_MSEC)

struct job {
	const char *path;
	const char *text;
	size_t size;
};

/* An errno value fits into an exit status. */
static int replace(void *arg)
{
	const struct job *job = arg;

	return -shr_file_replace(job->path, job->text, job->size);
}

static int start(struct guard_file *f, const char *text, size_t size)
{
	struct job job = { .path = f->path, .text = text, .size = size };
	pid_t child = shr_child_start(replace, &job, NULL, 0);

	if (child < 0)
		return child;
	f->child = child;
	return 0;
}

static int result_of(int status)
{
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

/* Is it news? */
static int note(struct guard_file *f, int code)
{
	int news = f->failed ? 0 : code;

	f->failed = code;
	return news;
}

int guard_file_poll(struct guard_file *f)
{
	int status;

	if (!f->child || !shr_child_gone(&f->child, &status))
		return 0;
	return note(f, result_of(status));
}

int guard_file_put(struct guard_file *f, const char *text, size_t size)
{
	int ret, news;

	news = guard_file_poll(f);
	ret = f->child ? -EBUSY : start(f, text, size);
	if (ret && !news)
		news = note(f, ret);
	return news;
}

/* 0, or -errno: -ETIMEDOUT. */
static int wait_for(struct guard_file *f, void (*beat)(void *data), void *data)
{
	uint64_t end = shr_now_ns() + GUARD_FILE_WAIT_NS;
	int status = 0;

	while (!shr_child_gone(&f->child, &status)) {
		if (shr_now_ns() > end) {
			kill(f->child, SIGKILL);
			return -ETIMEDOUT;
		}
		beat(data);
		shr_sleep_ns(PAUSE_NS);
	}
	return result_of(status);
}

int guard_file_finish(struct guard_file *f, const char *text, size_t size,
		      void (*beat)(void *data), void *data)
{
	int ret = 0;

	if (f->child)
		ret = wait_for(f, beat, data);
	if (ret != -ETIMEDOUT)
		ret = start(f, text, size);
	if (!ret)
		ret = wait_for(f, beat, data);
	return ret;
}
