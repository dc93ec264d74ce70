// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/lossy-output.h"
#include "shared/macro.h"

/* What is printed at once: a summary, or an event with a long text. */
#define CHUNK_SIZE  (64 * 1024)
#define NOTICE_SIZE 256
/* A terminal that poll() reports as writable takes this without a wait. */
#define PIECE_SIZE 256
/* At the end a slow reader gets that long for what is left. */
#define LAST_WAIT_MS 500

struct output {
	int fd;
	enum { PLAIN, NONBLOCK, SOCKET, ASK_FIRST } kind;
	const char *notice;
	size_t dropped; /* lines, since the last notice */
	/* The rest of what the reader took in part. */
	char rest[CHUNK_SIZE + NOTICE_SIZE];
	size_t left;
	char chunk[CHUNK_SIZE]; /* the stream's; glibc would make a smaller one */
};

/*
 * Our own open file, if that can be: O_NONBLOCK is of the open file, which we
 * share with the shell and others.
 */
static void open_output(struct output *o, int fd)
{
	struct stat st;
	char path[32];
	int own;

	o->fd = fd;
	o->kind = PLAIN;
	if (fstat(fd, &st) < 0)
		return;
	if (S_ISSOCK(st.st_mode))
		o->kind = SOCKET;
	if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (own >= 0)
		o->fd = own;
	o->kind = own < 0 ? ASK_FIRST : NONBLOCK;
}

static ssize_t write_once(const struct output *o, const char *buf, size_t len)
{
	struct pollfd p = { .fd = o->fd, .events = POLLOUT };

	if (o->kind == SOCKET)
		return send(o->fd, buf, len, MSG_DONTWAIT);
	if (o->kind != ASK_FIRST)
		return write(o->fd, buf, len);
	if (poll(&p, 1, 0) <= 0) {
		errno = EAGAIN;
		return -1;
	}
	return write(o->fd, buf, len < PIECE_SIZE ? len : PIECE_SIZE);
}

/* How much was taken; -1: an error that is not the reader's slowness. */
static ssize_t write_some(const struct output *o, const char *buf, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = write_once(o, buf + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			return -1;
		done += n;
	}
	return done;
}

/* Is nothing left of what was taken in part? */
static bool write_rest(struct output *o)
{
	ssize_t n = write_some(o, o->rest, o->left);

	if (n < 0)
		n = o->left;
	o->left -= n;
	memmove(o->rest, o->rest + n, o->left);
	return !o->left;
}

static size_t count_lines(const char *buf, size_t len)
{
	size_t i, lines = 0;

	for (i = 0; i < len; i++)
		lines += buf[i] == '\n';
	return lines;
}

/* As for fopencookie(): always all, or 0 for an error. */
static ssize_t write_chunk(void *cookie, const char *buf, size_t len)
{
	struct output *o = cookie;
	char text[sizeof(o->rest)];
	size_t head = 0;
	ssize_t n;

	if (!write_rest(o) || len > CHUNK_SIZE) {
		o->dropped += count_lines(buf, len);
		return len;
	}
	if (o->dropped)
		head = snprintf(text, NOTICE_SIZE, o->notice, o->dropped);
	memcpy(text + head, buf, len);
	n = write_some(o, text, head + len);
	if (n < 0)
		return 0;
	if (n == 0) {
		o->dropped += count_lines(buf, len);
		return len;
	}
	o->dropped = 0;
	o->left = head + len - n;
	memcpy(o->rest, text + n, o->left);
	return len;
}

static int close_output(void *cookie)
{
	struct output *o = cookie;
	struct pollfd p = { .fd = o->fd, .events = POLLOUT };

	if (o->left || o->dropped)
		poll(&p, 1, LAST_WAIT_MS);
	if (write_rest(o) && o->dropped)
		write_chunk(o, "", 0);
	if (o->kind == NONBLOCK)
		close(o->fd);
	free(o);
	return 0;
}

/* Ours, and what was in their place before; of stdout and of stderr. */
static FILE *started[2], *before[2];

/* With glibc a program can put streams of its own there; C does not promise it. */
#ifdef __GLIBC__
static void put_back(size_t i)
{
	if (stdout == started[i])
		stdout = before[i];
	if (stderr == started[i])
		stderr = before[i];
}

int lossy_output_start_both(const char *out_notice, const char *err_notice)
{
	int ret = lossy_output_start(&stdout, out_notice);

	return ret ? ret : lossy_output_start(&stderr, err_notice);
}
#else
static void put_back(size_t i)
{
	(void)i;
}

int lossy_output_start_both(const char *out_notice, const char *err_notice)
{
	(void)out_notice;
	(void)err_notice;
	return -EOPNOTSUPP;
}
#endif

/*
 * What a program prints last is not lost because its reader is a little late.
 * What is printed still later, as by a destructor, goes where it went before.
 */
static void end_outputs(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(started); i++) {
		if (!started[i])
			continue;
		put_back(i);
		fclose(started[i]);
	}
}

int lossy_output_start(FILE **stream, const char *notice)
{
	const cookie_io_functions_t io = {
		.write = write_chunk,
		.close = close_output,
	};
	bool err = *stream == stderr;
	struct output *o;
	FILE *lossy;

	if (started[err])
		return -EALREADY;
	o = calloc(1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	fflush(*stream);
	open_output(o, fileno(*stream));
	o->notice = notice;
	lossy = fopencookie(o, "w", io);
	if (!lossy || setvbuf(lossy, o->chunk, _IOFBF, CHUNK_SIZE))
		goto fail;
	if (!started[!err] && atexit(end_outputs))
		goto fail;
	/* Whole lines, as before: the callers flush stdout. */
	if (err)
		setvbuf(lossy, o->chunk, _IOLBF, CHUNK_SIZE);
	started[err] = lossy;
	before[err] = *stream;
	*stream = lossy;
	return 0;
fail:
	if (lossy)
		fclose(lossy);
	else
		free(o);
	return -ENOMEM;
}
