// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "cli/cli.h"
#include "cli/message.h"
#include "shared/util.h"
#include "top.h"

#define LONGEST_NS (60 * NSEC_PER_SEC)

/* Another command of gpreempt-ctl, as a child; the loop does not wait for its end. */

struct top_job {
	pid_t child;	 /* 0: none */
	int output;	 /* its output, read without waiting */
	uint64_t until;	 /* time at which it is killed */
	char text[1024]; /* its output, in one line, cut */
	bool ended;	 /* the next byte begins another line */
};

struct start {
	char **command;
	int output;
};

static int run(void *arg)
{
	const struct start *start = arg;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;

	/* The keyboard is ours, and so are the signals that wait here. */
	dup2(null, STDIN_FILENO);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	return ctl_exec(start->command, start->output);
}

/* Start a command, one at a time. 0 or -errno. */
static int top_job_start(struct top_job *job, char **command)
{
	struct start start = { .command = command };
	int pipes[2];

	if (job->child)
		return -EBUSY;
	if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	/* The child has an end of its own: its writes wait as usual. */
	fcntl(pipes[1], F_SETFL, 0);
	start.output = pipes[1];
	*job = (struct top_job){
		.output = pipes[0],
		.until = shr_later_ns(shr_now_ns(), LONGEST_NS),
	};
	job->child = shr_child_start(run, &start, &pipes[1], 1);
	close(pipes[1]);
	if (job->child > 0)
		return 0;
	close(pipes[0]);
	pipes[0] = job->child;
	job->child = 0;
	return pipes[0];
}

/* Join the child's lines to one, and cut it. */
static void add_text(struct top_job *job, const char *some, size_t n)
{
	static const char between[] = "; ";
	size_t i, used = strlen(job->text);

	for (i = 0; i < n && used + sizeof(between) < sizeof(job->text); i++) {
		if (some[i] == '\n')
			job->ended = true;
		if (some[i] == '\n' || !some[i])
			continue;
		if (job->ended && used)
			used += sprintf(job->text + used, "%s", between);
		job->ended = false;
		job->text[used++] = some[i];
		job->text[used] = '\0';
	}
}

static void top_job_end(struct top_job *job);

/* Read the child's output. true: it has ended, and text is complete. */
static bool top_job_check(struct top_job *job)
{
	int status = 0;
	bool late, gone;
	char some[512];
	ssize_t n;

	if (!job->child)
		return false;
	/* Ask for its end before reading: then all its output is there. */
	gone = shr_child_gone(&job->child, &status);
	late = !gone && shr_now_ns() > job->until;
	while ((n = read(job->output, some, sizeof(some))) > 0)
		add_text(job, some, n);
	if (!gone && !late)
		return false;
	if (late || !*job->text)
		snprintf(job->text, sizeof(job->text),
			 late ? "the command took too long, and was ended" :
				"the command has ended with status %d",
			 ctl_program_status(status));
	top_job_end(job);
	return true;
}

/* Kill the child, if there is one. */
static void top_job_end(struct top_job *job)
{
	if (job->child)
		shr_child_abandon(job->child);
	if (job->output > 0)
		close(job->output);
	job->child = 0;
	job->output = 0;
}

/* Choices and requests of the user: keys in, requests out. */

#define CODES(...)		 __VA_ARGS__
#define ROW(action, codes, help) { CODES codes },

/* Keys of each action, up to 0. */
static const int keys[TOP_ACTIONS][4] = { TOP_KEYS(ROW) };

/* Returns the action of a key; TOP_ACTIONS: none. */
static enum top_action top_action_of(int code)
{
	enum top_action action;
	int i;

	for (action = 0; action < TOP_ACTIONS; action++)
		for (i = 0; keys[action][i]; i++)
			if (keys[action][i] == code)
				return action;
	return TOP_ACTIONS;
}

/* Ask for the tenants, if the groups are these. Without an answer there are no groups. */
static void gather_tenants(struct top *t)
{
	struct top_view *v = &t->view;
	int ret = v->tree == TOP_BY_TENANT ? top_gather_tenants(&t->model) : 0;

	if (!ret)
		return;
	v->tree = TOP_FLAT;
	snprintf(v->status, sizeof(v->status), "no groups by tenant: %s",
		 ret == -ENOENT || ret == -ECONNREFUSED ? "no guard runs here" :
		 ret == -EPROTO				? "guard is of another version" :
							  strerror(-ret));
}

/* Read all figures again and arrange them. 0 or -errno with *err. */
static int top_refresh(struct top *t, struct gpreempt_error *err)
{
	int ret = ctl_sampler_refresh(&t->sampler, err);

	if (ret)
		return ret;
	top_gather(&t->model, &t->sampler);
	gather_tenants(t);
	if (t->view.mode == TOP_MODE_DETAILS)
		top_gather_queues(&t->model, &t->sampler.figures, t->view.pid);
	top_view_settle(&t->view, &t->model);
	return 0;
}

/* Keys and their actions. */

static const struct {
	int key;
	int number;
	const char *name;
} signals[] = {
	{ 't', SIGTERM, "TERM" }, { 'k', SIGKILL, "KILL" }, { 's', SIGSTOP, "STOP" },
	{ 'c', SIGCONT, "CONT" }, { 'i', SIGINT, "INT" },
};

const char *top_signal_name(int signal)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++)
		if (signals[i].number == signal)
			return signals[i].name;
	return "?";
}

void top_view_init(struct top_view *v)
{
	*v = (struct top_view){ .column = top_column_busy, .page = 1 };
}

static const struct top_line *selected(const struct top_view *v, const struct top_model *m)
{
	return v->line < m->lines.count ? &m->lines.items[v->line] : NULL;
}

static void select_line(struct top_view *v, const struct top_model *m, size_t line)
{
	const struct top_line *chosen;

	if (line >= m->lines.count)
		line = m->lines.count ? m->lines.count - 1 : 0;
	v->line = line;
	chosen = selected(v, m);
	v->pid = chosen && chosen->process ? chosen->process->pid : 0;
}

/* Up or down by so many lines, of the list or of a long page. */
static void move(struct top_view *v, const struct top_model *m, bool down, size_t by)
{
	size_t *at = v->mode == TOP_MODE_LIST ? &v->line : &v->above;
	size_t to = down ? *at + by : *at > by ? *at - by : 0;

	if (v->mode != TOP_MODE_LIST) {
		v->above = to;
		return;
	}
	select_line(v, m, to);
	v->moved = v->line > 0;
}

/* Sort by the next column of the screen that allows it. */
static void sort_next(struct top_view *v, bool left)
{
	do
		v->column = (v->column + (left ? TOP_N_COLUMNS - 1 : 1)) % TOP_N_COLUMNS;
	while (!top_columns[v->column].field || !top_columns[v->column].title);
	snprintf(v->status, sizeof(v->status), "sorted by %s", top_columns[v->column].title);
}

static void cycle_gpu(struct top_view *v, const struct top_model *m)
{
	char name[32];
	size_t i = 0;

	while (v->gpu_id && i < m->gpus.count && m->gpus.items[i].is.node.gpu_id != v->gpu_id)
		i++;
	if (v->gpu_id)
		i++;
	v->gpu_id = i < m->gpus.count ? m->gpus.items[i].is.node.gpu_id : 0;
	if (v->gpu_id)
		top_gpu_name(m->gpus.items[i].gpu, v->gpu_id, name, sizeof(name));
	if (v->gpu_id)
		snprintf(v->status, sizeof(v->status), "%s alone", name);
	else
		snprintf(v->status, sizeof(v->status), "all GPUs");
}

static void ask(struct top_view *v, const struct top_model *m, enum top_verb verb, const char *what)
{
	const struct top_process *p = top_find(m, v->pid);

	if (!v->root) {
		snprintf(v->status, sizeof(v->status), "only root can %s: start it with sudo",
			 what);
		return;
	}
	if (!p) {
		snprintf(v->status, sizeof(v->status), "choose a process first");
		return;
	}
	/* The next key is for the same process, wherever its line goes. */
	v->moved = true;
	v->asked = (struct top_request){ .verb = verb, .pid = p->pid, .start = p->start };
	snprintf(v->asked.command, sizeof(v->asked.command), "%s", p->command);
	v->mode = verb == TOP_DO_SIGNAL ? TOP_MODE_SIGNAL : TOP_MODE_CONFIRM;
}

static void change_delay(struct top_view *v, uint64_t to)
{
	if (to >= TOP_SHORTEST_NS && to <= TOP_LONGEST_NS)
		v->delay_ns = to;
}

static void enter(struct top_view *v, enum top_mode mode)
{
	v->mode = mode;
	v->above = 0;
}

static void change_order(struct top_view *v, enum top_action action)
{
	switch (action) {
	case TOP_SORT_BUSY:
		v->column = top_column_busy;
		break;
	case TOP_SORT_VRAM:
		v->column = top_column_vram;
		break;
	case TOP_SORT_PID:
		v->column = top_column_pid;
		break;
	case TOP_INVERT:
		v->inverted = !v->inverted;
		return;
	default:
		sort_next(v, action == TOP_SORT_BEFORE);
	}
	v->inverted = false;
}

static void change_tree(struct top_view *v, bool tenants)
{
	static const char *const names[TOP_TREES] = {
		[TOP_FLAT] = "none",  [TOP_BY_CGROUP] = "cgroup", [TOP_BY_CONTAINER] = "container",
		[TOP_BY_POD] = "pod", [TOP_BY_TENANT] = "tenant",
	};

	if (tenants)
		v->tree = v->tree == TOP_BY_TENANT ? TOP_FLAT : TOP_BY_TENANT;
	else
		v->tree = (v->tree + 1) % TOP_BY_TENANT;
	snprintf(v->status, sizeof(v->status), "groups: %s", names[v->tree]);
}

static void act(struct top_view *v, const struct top_model *m, enum top_action action)
{
	switch (action) {
	case TOP_UP:
	case TOP_DOWN:
		move(v, m, action == TOP_DOWN, 1);
		break;
	case TOP_PAGE_UP:
	case TOP_PAGE_DOWN:
		move(v, m, action == TOP_PAGE_DOWN, v->page);
		break;
	case TOP_HOME:
	case TOP_END:
		move(v, m, action == TOP_END, m->lines.count + TOP_HISTORY);
		break;
	case TOP_DETAILS:
		if (v->mode == TOP_MODE_LIST && v->pid)
			enter(v, TOP_MODE_DETAILS);
		break;
	case TOP_FILTER:
		enter(v, TOP_MODE_FILTER);
		break;
	case TOP_CYCLE_TREE:
	case TOP_TENANTS:
		change_tree(v, action == TOP_TENANTS);
		break;
	case TOP_CYCLE_GPU:
		cycle_gpu(v, m);
		break;
	case TOP_FASTER:
		change_delay(v, v->delay_ns / 2);
		break;
	case TOP_SLOWER:
		change_delay(v, v->delay_ns * 2);
		break;
	case TOP_PAUSE:
		v->paused = !v->paused;
		break;
	case TOP_SUSPEND:
		ask(v, m, TOP_DO_SUSPEND, "suspend a process");
		break;
	case TOP_RESUME:
		ask(v, m, TOP_DO_RESUME, "resume a process");
		break;
	case TOP_SIGNAL:
		ask(v, m, TOP_DO_SIGNAL, "send a signal from here");
		break;
	case TOP_HELP:
		enter(v, TOP_MODE_HELP);
		break;
	case TOP_QUIT:
		v->quit = true;
		break;
	case TOP_ACTIONS:
		break;
	default:
		change_order(v, action);
	}
}

static void type_pattern(struct top_view *v, int code)
{
	size_t len = strlen(v->filter);
	mbstate_t state = { 0 };
	char some[16];
	size_t n;

	switch (code) {
	case TOP_KEY_ENTER:
	case '\r':
		v->mode = TOP_MODE_LIST;
		return;
	case TOP_KEY_ESCAPE:
		*v->filter = '\0';
		v->mode = TOP_MODE_LIST;
		return;
	case TOP_KEY_BACKSPACE:
		while (len && (v->filter[--len] & 0xc0) == 0x80)
			;
		v->filter[len] = '\0';
		return;
	}
	if (code < ' ' || code >= TOP_KEY_UP)
		return;
	n = wcrtomb(some, code, &state);
	if (n != (size_t)-1 && len + n < sizeof(v->filter)) {
		memcpy(v->filter + len, some, n);
		v->filter[len + n] = '\0';
	}
}

static void choose_signal(struct top_view *v, int code)
{
	size_t i;

	v->mode = TOP_MODE_LIST;
	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		if (signals[i].key != code)
			continue;
		v->asked.signal = signals[i].number;
		v->mode = TOP_MODE_CONFIRM;
	}
}

static void confirm(struct top_view *v, int code)
{
	v->mode = TOP_MODE_LIST;
	if (code == 'y' || code == 'Y')
		v->ready = v->asked;
	else
		snprintf(v->status, sizeof(v->status), "nothing was done");
}

/* Do an action in the list, its details and the help. */
static void take_action(struct top_view *v, const struct top_model *m, int code)
{
	enum top_action action = top_action_of(code);
	bool page = v->mode != TOP_MODE_LIST;

	if (code == TOP_KEY_ESCAPE && page)
		v->mode = TOP_MODE_LIST;
	else if (code == TOP_KEY_ESCAPE)
		*v->filter = '\0';
	else if (page && (action == TOP_QUIT || action == TOP_DETAILS ||
			  (v->mode == TOP_MODE_HELP && action > TOP_END)))
		v->mode = TOP_MODE_LIST;
	else if (!page || action < TOP_FILTER || action > TOP_INVERT)
		act(v, m, action);
}

void top_view_key(struct top_view *v, const struct top_model *m, int code)
{
	*v->status = '\0';
	switch (v->mode) {
	case TOP_MODE_FILTER:
		type_pattern(v, code);
		break;
	case TOP_MODE_SIGNAL:
		choose_signal(v, code);
		break;
	case TOP_MODE_CONFIRM:
		confirm(v, code);
		break;
	default:
		take_action(v, m, code);
	}
}

void top_view_settle(struct top_view *v, struct top_model *m)
{
	bool stay = v->moved || v->mode != TOP_MODE_LIST;
	size_t i;

	top_arrange(m, v);
	for (i = 0; stay && v->pid && i < m->lines.count; i++)
		if (m->lines.items[i].process && m->lines.items[i].process->pid == v->pid) {
			v->line = i;
			return;
		}
	if (v->mode == TOP_MODE_DETAILS) {
		v->mode = TOP_MODE_LIST;
		snprintf(v->status, sizeof(v->status), "process %lld has ended", (long long)v->pid);
	}
	select_line(v, m, v->line);
}

/* Refreshes as tables, or as JSON, one object a line. */

static double wall_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static struct json_object *json_process(const struct top_process *p)
{
	struct json_object *object = out_json_row(&top_processes, p);

	/* The text of the column; here is the list itself. */
	json_object_object_del(object, "gpu");
	out_add(object, top_figures.name,
		out_json_rows(&top_figures, p->gpus.items, p->gpus.count));
	return object;
}

static void print_json(const struct top *t)
{
	struct json_object *object = json_object_new_object(), *list;
	const struct top_model *m = &t->model;
	size_t i;

	out_add(object, "time", out_json_double(wall_clock()));
	out_add(object, "simulated", out_json_flag(m->simulated));
	out_add(object, "looks", out_json_number(m->looks));
	out_add(object, "missing", out_json_text(m->missing));
	out_add(object, top_gpus.name, out_json_rows(&top_gpus, m->gpus.items, m->gpus.count));
	list = json_object_new_array();
	for (i = 0; i < m->lines.count; i++)
		json_object_array_add(list, json_process(m->lines.items[i].process));
	out_add(object, top_processes.name, list);
	out_json_print_line(object);
}

static void print_table(const struct top *t)
{
	const struct top_model *m = &t->model;
	struct top_process *rows = shr_must(calloc(m->lines.count + 1, sizeof(*rows)));
	size_t i;

	for (i = 0; i < m->lines.count; i++)
		rows[i] = *m->lines.items[i].process;
	out_print(&t->args->form, &top_processes, rows, m->lines.count);
	fflush(stdout);
	free(rows);
}

/* Run without a terminal. Returns the exit status. */
static int top_batch(struct top *t)
{
	uint64_t next = shr_now_ns(), i;
	struct gpreempt_error err;

	/* Looks need to know the GPUs. */
	if (top_refresh(t, &err))
		return ctl_fail(&err);
	for (i = 0; !t->args->count || i < t->args->count; i++) {
		next = shr_later_ns(next, t->args->delay_ns);
		if (ctl_sampler_wait(&t->sampler, next, t->stop))
			break;
		if (top_refresh(t, &err))
			return ctl_fail(&err);
		/* Note once what cannot be seen. */
		if (!i && t->model.missing)
			ctl_note("%s", t->model.missing);
		if (t->args->form.mode == OUT_JSON)
			print_json(t);
		else
			print_table(t);
		if (ferror(stdout))
			break;
	}
	return 0;
}

/* The loop on a terminal. */

/* The first figures come soon, and a job's end is looked for that often. */
#define SOON_NS (300 * NSEC_PER_MSEC)
#define TICK_NS (100 * NSEC_PER_MSEC)

struct session {
	struct top *t;
	struct top_screen shown, next;
	struct top_job job;
	int events;	  /* an epoll of keyboard and signals */
	uint64_t last_ns; /* time of the last refresh; 0: there was none */
	uint64_t count;	  /* refreshes so far */
};

static void draw(struct session *s)
{
	struct top_screen old = s->shown;
	int width, height;

	top_term_size(&width, &height);
	top_screen_resize(&s->next, width, height);
	s->next.utf8 = s->t->view.utf8;
	if (old.width && (old.width != width || old.height != height))
		top_term_resize(width, height);
	top_draw(&s->next, &s->t->model, &s->t->view);
	top_term_draw(&s->next, &s->shown);
	s->shown = s->next;
	s->next = old;
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

static void read_keys(struct session *s)
{
	struct top *t = s->t;
	int key;

	while (!t->view.quit && (key = top_term_key()) != TOP_KEY_NONE) {
		enum top_mode before = t->view.mode;
		enum top_tree tree = t->view.tree;

		top_view_key(&t->view, &t->model, key);
		if (t->view.tree != tree)
			gather_tenants(t);
		top_view_settle(&t->view, &t->model);
		if (t->view.mode == TOP_MODE_DETAILS && before != TOP_MODE_DETAILS)
			top_gather_queues(&t->model, &t->sampler.figures, t->view.pid);
	}
	take_request(s);
}

/* Take the events. A terminal that is gone reports that for ever. */
static void take_events(struct session *s)
{
	struct epoll_event events[2];
	int n = epoll_wait(s->events, events, ARRAY_SIZE(events), 0), i;

	for (i = 0; i < n; i++)
		if (events[i].data.u64 == STDIN_FILENO && events[i].events & (EPOLLHUP | EPOLLERR))
			s->t->view.quit = true;
	read_signals(s);
	read_keys(s);
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
	/* The last figures stay on the screen. */
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
		draw(s);
		until = s->job.child ? shr_now_ns() + TICK_NS : next_refresh(s);
		if (ctl_sampler_wait(&s->t->sampler, until, s->events))
			take_events(s);
		if (top_job_check(&s->job))
			tell(s, "%s", s->job.text);
	}
}

/* Run on a terminal. Returns the exit status. */
static int top_interactive(struct top *t)
{
	struct session s = { .t = t };
	struct gpreempt_error err;
	int ret = top_term_open(&t->args->form);

	if (ret)
		return ret;
	t->view.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	s.events = epoll_create1(EPOLL_CLOEXEC);
	ret = s.events < 0 ? -errno : shr_epoll_add(s.events, STDIN_FILENO, STDIN_FILENO);
	if (!ret)
		ret = shr_epoll_add(s.events, t->stop, t->stop);
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

/* top: processes on the GPUs, how busy they are, and the actions on them. */

/* Check the options. 0, or the exit status after a message. */
static int check(const struct top_args *args)
{
	if (args->delay_ns < TOP_SHORTEST_NS || args->delay_ns > TOP_LONGEST_NS)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-ctl top --help",
				     "--interval is from 100ms to 1h");
	if (!args->batch && (args->form.columns || args->form.sort || args->form.bare))
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-ctl top --batch",
				     "--columns, --sort and --no-headers are for --batch");
	if (!args->batch && args->form.mode != OUT_JSON &&
	    !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-ctl top --batch, or --json",
				     "the screen of top needs a terminal");
	return 0;
}

static int run_top(void *data)
{
	static const int awaited[] = { SIGINT, SIGTERM, SIGHUP, SIGWINCH, 0 };
	const struct top_args *args = data;
	struct top t = { .args = args };
	__cleanup_handle struct gpreempt *g = NULL;
	int ret = check(args);

	if (!ret)
		ret = ctl_open(NULL, &g);
	if (!ret)
		ret = ctl_need_host(g);
	if (ret)
		return ret;
	ctl_sampler_init(&t.sampler, g, args->looks_ns);
	top_view_init(&t.view);
	t.view.delay_ns = args->delay_ns;
	t.view.root = !geteuid();
	if (args->batch || args->form.mode == OUT_JSON) {
		t.stop = shr_signals_open_stop();
		ret = top_batch(&t);
	} else {
		t.stop = shr_signals_open(awaited);
		ret = top_interactive(&t);
	}
	if (t.stop >= 0)
		close(t.stop);
	top_model_clear(&t.model);
	ctl_sampler_clear(&t.sampler);
	return ret;
}

static const struct ctl_option options[] = {
	{ "batch", CTL_FLAG, offsetof(struct top_args, batch), NULL,
	  "print a table of the processes at each refresh" },
	CTL_TABLE_OPTIONS(struct top_args),
	{ "count", CTL_COUNT, offsetof(struct top_args, count), "N",
	  "end after that many refreshes (-n N)" },
	{ "interval", CTL_DURATION, offsetof(struct top_args, delay_ns), "TIME",
	  "from one refresh to the next (-d 2s)" },
	{ "looks", CTL_DURATION, offsetof(struct top_args, looks_ns), "TIME",
	  "from one look to the next (what 1 % of a CPU allows)" },
	{ 0 },
};

const struct ctl_command ctl_top = {
	.name = "top",
	.run = run_top,
	.args_size = sizeof(struct top_args),
	.words = CTL_NO_WORDS,
	.summary = "Watch the GPUs and the processes on them.",
	.details =
		"GPUs are bars above, and processes lines below. BUSY% is measured by looks at\n"
		"random moments: it is the part of them in which the process had waves in\n"
		"flight, or with METHOD \"packets\" (a GPU whose waves cannot be counted) packets\n"
		"that a slot of it had not read. Of several GPUs it is the sum: eight busy GPUs\n"
		"make 800. Looks are taken while top runs; there is no daemon. top does not open\n"
		"/dev/kfd. \"-\" is what is not known, as BUSY% is without gpreempt.ko.\n"
		"\n"
		"Keys:\n" TOP_KEYS_HELP "\n"
		"Columns, as many as the terminal is wide enough for:\n" TOP_COLUMNS_HELP "\n"
		"NO_COLOR, if it is set, means no colours. Without a UTF-8 locale all is ASCII.\n"
		"--json prints one object a line at each refresh, with all GPUs of each process.\n"
		"The screen needs the library ncurses; --batch and --json do not.\n",
	.examples = "  gpreempt-ctl top -d 1\n"
		    "  gpreempt-ctl top --batch -n 1 -d 1 --sort -busy_percent\n",
	.table = &top_processes,
	.options = options,
	.defaults = &(const struct top_args){ .delay_ns = 2 * NSEC_PER_SEC },
};
