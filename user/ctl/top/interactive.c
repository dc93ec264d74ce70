// SPDX-License-Identifier: GPL-2.0-only
/* The loop on a terminal. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

#include "ctl/command/ctl.h"
#include "ctl/top/gather.h"
#include "ctl/top/job.h"
#include "ctl/top/keys.h"
#include "ctl/top/screen.h"
#include "ctl/top/term.h"
#include "ctl/top/top.h"
#include "shared/clock.h"
#include "shared/syscall.h"

/* The first figures come soon, and a job's end is looked for that often. */
#define SOON_NS (300 * NSEC_PER_MSEC)
#define TICK_NS (100 * NSEC_PER_MSEC)

struct session {
	struct top *t;
	struct top_screen shown, next;
	struct top_job job;
	int events;	  /* an epoll of keyboard and signals */
	uint64_t last_ns; /* of the last refresh; 0: there was none */
	uint64_t count;	  /* of refreshes */
};

static int draw(struct session *s)
{
	struct top_screen old = s->shown;
	int width, height;

	top_term_size(&width, &height);
	if (top_screen_resize(&s->next, width, height))
		return -ENOMEM;
	s->next.utf8 = s->t->view.utf8;
	if (old.width && (old.width != width || old.height != height))
		top_term_resize(width, height);
	top_draw(&s->next, &s->t->model, &s->t->view);
	top_term_draw(&s->next, &s->shown);
	s->shown = s->next;
	s->next = old;
	return 0;
}

/* Is it the process that was asked about? Another one may have its number. */
static bool is_there(struct session *s, const struct top_request *r)
{
	uint64_t start;

	return !gpreempt_start_time(s->t->sampler.g, r->pid, &start) && start == r->start;
}

__attribute__((format(printf, 2, 3))) static void tell(struct session *s, const char *format, ...)
{
	struct top_view *v = &s->t->view;
	va_list ap;

	va_start(ap, format);
	vsnprintf(v->status, sizeof(v->status), format, ap);
	va_end(ap);
}

static void send_signal(struct session *s, const struct top_request *r)
{
	__cleanup_fd int fd = shr_pidfd_open(r->pid);

	if (fd < 0 || !is_there(s, r))
		tell(s, "process %lld has ended", (long long)r->pid);
	else if (shr_pidfd_send_signal(fd, r->signal))
		tell(s, "SIG%s was not sent to process %lld: %s", top_signal_name(r->signal),
		     (long long)r->pid, strerror(errno));
	else
		tell(s, "SIG%s was sent to process %lld", top_signal_name(r->signal),
		     (long long)r->pid);
}

static void start_job(struct session *s, const struct top_request *r)
{
	bool suspend = r->verb == TOP_DO_SUSPEND;
	char pid[24], *command[] = { "/proc/self/exe", suspend ? "suspend" : "resume", pid, NULL };
	int ret;

	snprintf(pid, sizeof(pid), "%lld", (long long)r->pid);
	if (!is_there(s, r)) {
		tell(s, "process %s has ended", pid);
		return;
	}
	ret = top_job_start(&s->job, command);
	if (ret == -EBUSY)
		tell(s, "the last command has not ended yet");
	else if (ret)
		tell(s, "cannot %s process %s: %s", command[1], pid, strerror(-ret));
	else
		tell(s, "gpreempt-ctl %s %s ...", command[1], pid);
}

static void take_request(struct session *s)
{
	struct top_request r = s->t->view.ready;

	s->t->view.ready = (struct top_request){ .verb = TOP_DO_NOTHING };
	if (r.verb == TOP_DO_SIGNAL)
		send_signal(s, &r);
	else if (r.verb != TOP_DO_NOTHING)
		start_job(s, &r);
}

static void read_signals(struct session *s)
{
	struct signalfd_siginfo info;

	while (read(s->t->stop, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGWINCH)
			s->t->view.quit = true;
}

static int read_keys(struct session *s)
{
	struct top *t = s->t;
	int key, ret = 0;

	while (!ret && !t->view.quit && (key = top_term_key()) != TOP_KEY_NONE) {
		enum top_mode before = t->view.mode;

		top_view_key(&t->view, &t->model, key);
		ret = top_view_settle(&t->view, &t->model);
		if (!ret && t->view.mode == TOP_MODE_DETAILS && before != TOP_MODE_DETAILS)
			ret = top_gather_queues(&t->model, t->sampler.g, t->view.pid);
	}
	take_request(s);
	return ret;
}

/* A terminal that is gone reports that for ever. */
static int take_events(struct session *s)
{
	struct epoll_event events[2];
	int n = epoll_wait(s->events, events, ARRAY_SIZE(events), 0), i;

	for (i = 0; i < n; i++)
		if (events[i].data.fd == STDIN_FILENO && events[i].events & (EPOLLHUP | EPOLLERR))
			s->t->view.quit = true;
	read_signals(s);
	return read_keys(s);
}

static int watch(struct session *s, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(s->events, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* The second refresh comes soon, as the first one has no shares. */
static uint64_t next_refresh(const struct session *s)
{
	uint64_t delay = s->t->view.delay_ns;

	if (s->count < 2 && delay > SOON_NS)
		delay = SOON_NS;
	return s->count ? shr_later_ns(s->last_ns, delay) : 0;
}

static int refresh_if_due(struct session *s, struct gpreempt_error *err)
{
	uint64_t now = shr_now_ns();
	char why[256];
	int ret;

	if (now < next_refresh(s))
		return 0;
	s->last_ns = now;
	/* The first one is not counted. */
	if (s->t->args->count && s->count > s->t->args->count) {
		s->t->view.quit = true;
		return 0;
	}
	s->count++;
	ret = s->t->view.paused ? 0 : top_refresh(s->t, err);
	/* What was seen stays on the screen. */
	if (ret && s->count > 1) {
		gpreempt_error_text(err, why, sizeof(why));
		tell(s, "no refresh: %s", why);
		ret = 0;
	}
	return ret;
}

static int loop(struct session *s, struct gpreempt_error *err)
{
	uint64_t until;
	int ret;

	for (;;) {
		ret = refresh_if_due(s, err);
		if (ret || s->t->view.quit)
			return ret;
		ret = draw(s);
		until = s->job.child ? shr_now_ns() + TICK_NS : next_refresh(s);
		if (!ret && ctl_sampler_wait(&s->t->sampler, until, s->events))
			ret = take_events(s);
		if (ret)
			break;
		if (top_job_check(&s->job))
			tell(s, "%s", s->job.text);
	}
	return ctl_set_error(err, ret, GPREEMPT_SYSTEM, 0, "drawing the screen");
}

int top_interactive(struct top *t)
{
	struct session s = { .t = t, .events = epoll_create1(EPOLL_CLOEXEC) };
	struct gpreempt_error err;
	int ret = top_term_open();

	if (ret) {
		close(s.events);
		return ret;
	}
	t->view.utf8 = top_term_utf8();
	ret = s.events < 0 ? -errno : watch(&s, STDIN_FILENO);
	if (!ret)
		ret = watch(&s, t->stop);
	if (ret)
		ctl_set_error(&err, ret, GPREEMPT_SYSTEM, 0, "waiting for keys");
	else
		ret = loop(&s, &err);
	top_term_close();
	top_job_end(&s.job);
	top_screen_free(&s.shown);
	top_screen_free(&s.next);
	close(s.events);
	return ret ? ctl_fail(&err) : 0;
}
