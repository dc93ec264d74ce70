// SPDX-License-Identifier: GPL-2.0-only
/* Runs guard: its main loop, its beat, and output to slow readers. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/message.h"
#include "lib/preempt/wire.h"
#include "shared/util.h"
#include "guard.h"

/* The main thread is alive, and so is the poller. */

/* Time without a run after which the poller is dead. */
#define POLLER_SILENCE_NS (5 * NSEC_PER_SEC)

/* Has the poller been scheduled lately? */
static bool guard_poller_runs(struct guard *guard)
{
	return shr_now_ns() <= atomic_load(&guard->common->beat_ns) + POLLER_SILENCE_NS;
}

/*
 * Beat, or the kernel ends us. The time is long enough for a step on a host without CPUs to
 * spare: workers do not wait for it when the poller stops.
 */
void guard_heartbeat(struct guard *guard)
{
	if (guard_poller_runs(guard))
		watchdog_pet(&guard->watchdog, GUARD_SILENCE_NS);
}

/* Bytes printed at once: a summary, or an event with a long text. */
#define CHUNK_SIZE  (64 * 1024)
#define NOTICE_SIZE 256
/* A terminal that poll() reports as writable takes this without a wait. */
#define PIECE_SIZE 256
/* Time that a slow reader gets for the rest at the end. */
#define LAST_WAIT_MS 500

struct output {
	int fd;
	enum { PLAIN, NONBLOCK, SOCKET, ASK_FIRST } kind;
	const char *notice;
	size_t dropped; /* lines, since the last notice */
	/* Rest of a text that the reader took in part. */
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

/* Write the rest. True: the reader has all of it. */
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

/* Write for fopencookie(): all of it, or 0 for an error. */
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

/* Our streams, and the streams in their place before; for stdout and for stderr. */
static FILE *started[2], *before[2];

/* A program can put streams of its own there with glibc; C does not promise it. */
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
 * End the outputs: a reader that is a little late still gets the last text. Text printed after
 * this, as by a destructor, goes where it went before.
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
	const cookie_io_functions_t io = { .write = write_chunk, .close = close_output };
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

/* The main thread of guard. */

#define LIVE_NS	   NSEC_PER_SEC
#define METRICS_NS (5 * NSEC_PER_SEC)

/* Open the signals that end guard, and the one that asks for the figures. 0 or -errno. */
static int open_signals(struct guard *guard)
{
	static const int report[] = { SIGUSR1, 0 };

	guard->stop = foreground_signals();
	if (guard->stop < 0)
		return guard->stop;
	guard->report = shr_signals_open(report);
	return guard->report < 0 ? guard->report : 0;
}

/* Report that the poller was late; at the time it could not be reported. */
static void tell_gap(struct guard *guard)
{
	uint64_t ns = atomic_exchange(&guard->gap_ns, 0);

	if (ns)
		guard_event(guard, "late", 0,
			    "the poller was not run for "
			    "%.1f s: offline processes were resumed meanwhile",
			    ns / 1e9);
}

static void answer_signal(struct guard *guard)
{
	struct signalfd_siginfo info;

	while (read(guard->report, &info, sizeof(info)) == sizeof(info)) {
		guard_work_tell(guard);
		guard_summary(guard);
	}
}

/* How often a child looks for words that may hang; for others, as often as guard. */
#define PACE_NS (200 * NSEC_PER_MSEC)

static void leave_to_children(struct guard *guard, bool online)
{
	size_t i;

	for (i = 0; i < guard->config.n[online]; i++) {
		const char *word = guard->config.tenant[online][i].word;
		enum guard_word_kind kind = guard_word_kind(word);
		struct guard_finder *f = &guard->finders[kind];

		if (kind == GUARD_WORD_QUICK || guard->config.tenant[online][i].own)
			continue;
		f->sought[f->n++] = (struct guard_sought){
			.word = word,
			.online = online,
		};
	}
}

static int start_children(struct guard *guard)
{
	int ret = 0;
	size_t i;

	leave_to_children(guard, true);
	leave_to_children(guard, false);
	guard->finders[GUARD_WORD_HANGS].pace_ns = PACE_NS;
	for (i = 0; !ret && i < GUARD_FINDERS; i++)
		ret = guard_finder_start(&guard->finders[i], guard->g);
	return ret;
}

/* Read the configuration again. After an error the one that is in use stays. */
static void reload(struct guard *guard)
{
	const char *path = guard->options->config;
	struct guard_config_error err;
	struct guard_config new;
	size_t i;

	if (guard_config_read(path, &new, &err)) {
		guard_event(guard, "config", 0, "%s:%d: %s; what was read before stays", path,
			    err.line, err.text);
		return;
	}
	for (i = 0; i < GUARD_FINDERS; i++)
		guard_finder_stop(&guard->finders[i]);
	if (guard_targets_change(guard, &new) || start_children(guard))
		guard_event(guard, "config", 0, "%s: not all of it could be taken", path);
	else
		guard_event(guard, "config", 0, "%s is in use", path);
}

/* Does a signal end it? A hangup asks for the configuration. */
static bool is_over(struct guard *guard)
{
	struct signalfd_siginfo info;
	bool over = !guard->options->config;

	while (!over && read(guard->stop, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo == SIGHUP)
			reload(guard);
		else
			over = true;
	return over;
}

/* Watch until a signal ends it. */
static void watch(struct guard *guard)
{
	struct timespec tick = { 0 };
	uint64_t live_ns = 0, metrics_ns = 0;
	struct pollfd fds[] = {
		{ .fd = guard->stop, .events = POLLIN },
		{ .fd = guard->report, .events = POLLIN },
	};

	for (;;) {
		uint64_t now = shr_now_ns();

		/* The hardware takes turns: a look in step with them sees the same ones always. */
		tick.tv_nsec = GUARD_TICK_NS / 2 + random() % GUARD_TICK_NS;
		if (guard_poller_runs(guard))
			notify_manager("WATCHDOG=1");
		if (!guard_targets_look(guard))
			tick.tv_nsec *= 2;
		guard_take_results(guard);
		guard_work_tell(guard);
		tell_gap(guard);
		guard_ask_tell(guard);
		guard_poll_tend(guard);
		guard_files_poll(guard);
		if (now > live_ns + LIVE_NS) {
			guard_live(guard);
			live_ns = now;
		}
		if (now > metrics_ns + METRICS_NS) {
			guard_files_put(guard, GUARD_METRICS);
			metrics_ns = now;
		}
		if (ppoll(fds, ARRAY_SIZE(fds), &tick, NULL) <= 0)
			continue;
		if (fds[0].revents && is_over(guard))
			return;
		answer_signal(guard);
	}
}

/* Listen to servers. One guard at a time does; the others go on without. */
static struct guard_server *listen_to_servers(struct guard *guard)
{
	struct guard_server *server;
	int ret;

	if (guard->options->duty)
		return NULL;
	ret = guard_serve_start(guard, &server);
	if (!ret)
		return server;
	ctl_note("%s: %s; this guard cannot receive \"guard begin\"", GUARD_SOCKET, strerror(-ret));
	return NULL;
}

int guard_run(struct guard *guard)
{
	static const char notice[] = "note: %zu lines were not read in time, and dropped\n";
	static const char event[] = "{\"event\":\"dropped\",\"lines\":%zu}\n";
	struct guard_server *server;
	int ret;

	/* The main thread has to beat: no output may block it. */
	lossy_output_start_both(guard->options->json ? event : notice, notice);
	ret = open_signals(guard);
	if (!ret)
		ret = watchdog_start(&guard->watchdog);
	if (ret)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, 0);
	guard->figures.start_ns = shr_now_ns();
	guard_targets_start(guard);
	guard->common = guard_channel_map(sizeof(*guard->common));
	if (!guard->common)
		return ctl_fail_reason(GPREEMPT_SYSTEM, -ENOMEM, 0);
	ret = guard_wake_open(&guard->wakes);
	if (!ret)
		ret = start_children(guard);
	if (!ret)
		ret = guard_ask_start(guard);
	if (ret)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, 0);
	ret = guard_poll_start(guard);
	if (ret)
		guard_ask_stop(guard);
	if (ret)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, "is there such a CPU?",
				     "the poller cannot be started: %s", strerror(-ret));
	server = listen_to_servers(guard);
	notify_manager("READY=1");
	watch(guard);
	notify_manager("STOPPING=1");
	guard_serve_stop(server);
	guard_poll_stop(guard);
	guard_ask_stop(guard);
	guard_take_results(guard);
	guard_work_tell(guard);
	guard_summary(guard);
	guard_files_last(guard);
	guard->ending = true;
	/* First: a slow disk is no reason to keep a process suspended. */
	guard_targets_drop(guard);
	ret = guard_files_finish(guard);
	if (!ret)
		ret = guard->status;
	if (!ret && (guard->places[0].ever || guard->places[1].ever))
		ret = GPREEMPT_CLASS_PARTIAL;
	return ret;
}
