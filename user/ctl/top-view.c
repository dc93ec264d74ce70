// SPDX-License-Identifier: GPL-2.0-only
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "cli/message.h"
#include "top.h"

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

int top_refresh(struct top *t, struct gpreempt_error *err)
{
	int ret = ctl_sampler_refresh(&t->sampler, err);

	if (ret)
		return ret;
	ret = top_gather(&t->model, &t->sampler);
	if (!ret && t->view.mode == TOP_MODE_DETAILS)
		ret = top_gather_queues(&t->model, &t->sampler.figures, t->view.pid);
	if (!ret)
		ret = top_view_settle(&t->view, &t->model);
	return ret ? ctl_set_error(err, ret, GPREEMPT_SYSTEM, 0, "keeping what was seen") : 0;
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

	while (v->gpu_id && i < m->gpus.count && m->gpus.items[i].gpu_id != v->gpu_id)
		i++;
	if (v->gpu_id)
		i++;
	v->gpu_id = i < m->gpus.count ? m->gpus.items[i].gpu_id : 0;
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
	v->asked = (struct top_request){
		.verb = verb,
		.pid = p->pid,
		.start = p->start,
	};
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

static void cycle_tree(struct top_view *v)
{
	v->tree = (v->tree + 1) % TOP_TREES;
	snprintf(v->status, sizeof(v->status), "groups: %s", top_tree_names[v->tree]);
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
		cycle_tree(v);
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

int top_view_settle(struct top_view *v, struct top_model *m)
{
	const struct top_order order = {
		.column = v->column,
		.inverted = v->inverted,
		.tree = v->tree,
		.gpu_id = v->gpu_id,
		.pattern = v->filter,
	};
	bool stay = v->moved || v->mode != TOP_MODE_LIST;
	int ret = top_arrange(m, &order);
	size_t i;

	for (i = 0; stay && v->pid && i < m->lines.count; i++)
		if (m->lines.items[i].process && m->lines.items[i].process->pid == v->pid) {
			v->line = i;
			return ret;
		}
	if (v->mode == TOP_MODE_DETAILS) {
		v->mode = TOP_MODE_LIST;
		snprintf(v->status, sizeof(v->status), "process %lld has ended", (long long)v->pid);
	}
	select_line(v, m, v->line);
	return ret;
}
