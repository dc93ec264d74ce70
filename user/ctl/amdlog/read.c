// SPDX-License-Identifier: GPL-2.0-only
/* Files with ROCm's log, and what is none. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/amdlog/amdlog.h"
#include "ctl/text/open.h"
#include "shared/macro.h"
#include "output/message.h"

#define CHUNK (1 << 20)

static int fail(const char *path, int err)
{
	bool denied = err == -EACCES || err == -EPERM;

	return ctl_fail_text(denied ? GPREEMPT_CLASS_PERMISSION :
				      GPREEMPT_CLASS_FAILED,
			     denied ? "run it as a user who may read it" : NULL,
			     "%s: %s", path, text_open_error(err));
}

static int fail_other(const char *path, const struct text_guess *guess)
{
	if (guess)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, guess->next,
				     "%s: %s, not a log of ROCm", path,
				     guess->what);
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     "run the program with AMD_LOG_LEVEL=4",
			     "%s: no line of ROCm's log is in it", path);
}

static int feed_all(struct gp_amdlog *log, int fd,
		    const struct text_guess **guess)
{
	char *chunk = shr_must(malloc(CHUNK));
	bool first = true;
	ssize_t len;

	*guess = NULL;
	while ((len = read(fd, chunk, CHUNK)) > 0) {
		if (first)
			*guess = text_guess(chunk, len);
		first = false;
		if (gp_amdlog_feed(log, chunk, len))
			abort();
	}
	len = len < 0 ? -errno : 0;
	free(chunk);
	if (gp_amdlog_end(log))
		abort();
	return len;
}

/* 0 or -errno, of which nothing has been said. */
static int read_fd(int fd, int64_t pid, gp_amdlog_packet_fn *packet, void *data,
		   struct gp_amdlog **out, const struct text_guess **guess)
{
	int ret;

	if (gp_amdlog_new(pid ? pid : GPREEMPT_UNKNOWN, packet, data, out))
		abort();
	ret = feed_all(*out, fd, guess);
	if (ret)
		gp_amdlog_free(*out);
	return ret;
}

int amdlog_read_fd(int fd, int64_t pid, gp_amdlog_packet_fn *packet, void *data,
		   struct gp_amdlog **out)
{
	const struct text_guess *guess;

	return read_fd(fd, pid, packet, data, out, &guess);
}

int amdlog_read(const char *path, int64_t pid, struct gp_amdlog **out)
{
	const struct text_guess *guess;
	int fd = text_open(path), ret;

	if (fd < 0)
		return fail(path, fd);
	ret = read_fd(fd, pid, NULL, NULL, out, &guess);
	close(fd);
	if (ret)
		return fail(path, ret);
	if (gp_amdlog_get(*out)->records)
		return 0;
	gp_amdlog_free(*out);
	return fail_other(path, guess);
}
