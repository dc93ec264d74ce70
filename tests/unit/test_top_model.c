// SPDX-License-Identifier: GPL-2.0-only
/* Order, filter and groups of top, and what its keys do. */
#include "unit-top.h"

static struct top_process *of(int64_t pid)
{
	return (struct top_process *)top_find(&model, pid);
}

static void setup(void)
{
	top_setup();
	add_process(10, "bravo", 0x7d63, 300, 500);
	add_process(20, "alpha", 0x7d63, GPREEMPT_UNKNOWN, 900);
	add_process(30, "charlie", 0x1d67, 900, GPREEMPT_UNKNOWN);
	add_figure(of(10), 0x1d67, 700, 100);
	strcpy(of(20)->user, "bob");
	of(30)->held_by = 7;
	strcpy(of(30)->held_as, "guard");
	strcpy(of(10)->container, "web");
	strcpy(of(20)->pod_uid, "8a1b");
	strcpy(of(30)->job, "1234");
	of(10)->state = NULL;
	of(20)->state = "suspended";
	of(20)->slots_held = GPREEMPT_UNKNOWN;
	of(30)->slots_held = 500;
	of(10)->gpus.items[0].evicted_ms = 5;
	of(20)->gpus.items[0].suspended_ms = 8;
	of(20)->gpus.items[0].holds = 2;
	of(10)->gpus.items[0].method = "packets";
}

/* Unknown values are last, in either direction; numbers fall, texts rise. */
TEST(each_column)
{
	static const struct {
		const char *title, *order, *inverted;
	} cases[] = {
		{ "PID", "10 20 30", "30 20 10" },	 { "USER", "10 30 20", "20 10 30" },
		{ "GPUS", "20 30 10", "10 30 20" },	 { "BUSY%", "10 30 20", "30 10 20" },
		{ "METHOD", "10 30 20", "30 10 20" },	 { "WAVES", "10 30 20", "30 10 20" },
		{ "SLOT%", "10 30 20", "30 10 20" },	 { "VRAM", "20 10 30", "10 20 30" },
		{ "EVICT-MS", "10 20 30", "20 30 10" },	 { "SUSP-MS", "20 10 30", "10 30 20" },
		{ "HOLDS", "20 10 30", "10 30 20" },	 { "STATE", "30 20 10", "20 30 10" },
		{ "HELD-BY", "30 10 20", "30 10 20" },	 { "AS", "30 10 20", "30 10 20" },
		{ "CONTAINER", "10 20 30", "10 20 30" }, { "POD", "20 10 30", "20 10 30" },
		{ "JOB", "30 10 20", "30 10 20" },	 { "COMMAND", "20 10 30", "30 10 20" },
	};
	size_t i, j, sorted = 0;

	for (i = 0; i < TOP_N_COLUMNS; i++) {
		if (!top_columns[i].title || !top_columns[i].field)
			continue;
		for (j = 0; strcmp(cases[j].title, top_columns[i].title); j++)
			ck_assert_uint_lt(j + 1, ARRAY_SIZE(cases));
		view.column = i;
		view.inverted = false;
		ck_assert_str_eq(order(), cases[j].order);
		view.inverted = true;
		ck_assert_str_eq(order(), cases[j].inverted);
		sorted++;
	}
	ck_assert_uint_eq(sorted, ARRAY_SIZE(cases));
}

/* The sum of both GPUs, or that of one; the least method of both. */
TEST(sums)
{
	order();
	ck_assert_int_eq(of(10)->busy, 1000);
	ck_assert_int_eq(of(10)->vram, 600);
	ck_assert_str_eq(of(10)->method, "packets");
	ck_assert_str_eq(of(10)->gpu, "2 GPUs");
	ck_assert_str_eq(of(30)->gpu, "1");
	ck_assert_int_eq(of(20)->busy, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(of(30)->vram, GPREEMPT_UNKNOWN);
	press('g');
	ck_assert_int_eq(of(10)->busy, 300);
	ck_assert_str_eq(order(), "10 20");
	press('g');
	ck_assert_int_eq(of(10)->busy, 700);
	ck_assert_str_eq(order(), "30 10");
	press('g');
	ck_assert_str_eq(order(), "10 30 20");
}

TEST_EACH(filters, 9)
{
	static const struct {
		const char *pattern, *order;
	} cases[] = {
		{ "ALPHA", "20" }, { "a", "10 30 20" }, { "bob", "20" },
		{ "guard", "30" }, { "web", "10" },	{ "8a", "20" },
		{ "1234", "30" },  { "suspend", "20" }, { "30", "30" },
	};

	strcpy(view.filter, cases[_i].pattern);
	ck_assert_str_eq(order(), cases[_i].order);
}

TEST(groups)
{
	strcpy(of(10)->cgroup, "/b");
	strcpy(of(20)->cgroup, "/a");
	strcpy(of(30)->cgroup, "/a");
	press('t');
	ck_assert_str_eq(order(), "(/b) 10 (/a) 30 20");
	ck_assert_uint_eq(model.lines.items[2].members, 2);
	ck_assert_int_eq(model.lines.items[2].busy, 900);
	ck_assert_int_eq(model.lines.items[2].vram, 900);
	press('N');
	ck_assert_str_eq(order(), "(/b) 10 (/a) 20 30");
	press('I');
	ck_assert_str_eq(order(), "(/a) 30 20 (/b) 10");
	press('N');
	press(TOP_KEY_F5);
	ck_assert_str_eq(order(), "(web) 10 (no container) 20 30");
	press('t');
	ck_assert_str_eq(order(), "(no pod and no job) 10 (8a1b) 20 (1234) 30");
	press('t');
	ck_assert_str_eq(order(), "10 20 30");
}

TEST(history)
{
	struct top_history h = { .count = 0 };
	int64_t i;

	ck_assert_uint_eq(top_history_at(&h, 0), TOP_NOTHING);
	for (i = 0; i < TOP_HISTORY; i++)
		top_history_add(&h, i);
	top_history_add(&h, 995);
	top_history_add(&h, GPREEMPT_UNKNOWN);
	top_history_add(&h, 8000);
	ck_assert_uint_eq(top_history_at(&h, 0), 100);
	ck_assert_uint_eq(top_history_at(&h, 1), TOP_NOTHING);
	ck_assert_uint_eq(top_history_at(&h, 2), 100);
	ck_assert_uint_eq(top_history_at(&h, 3), 13);
	ck_assert_uint_eq(top_history_at(&h, TOP_HISTORY - 1), 0);
	ck_assert_uint_eq(top_history_at(&h, TOP_HISTORY), TOP_NOTHING);
}

/* The keys of htop do what they do there. */
TEST(keys)
{
	order();
	press('M');
	ck_assert_str_eq(order(), "20 10 30");
	press('>');
	ck_assert_str_eq(top_columns[view.column].title, "EVICT-MS");
	press('<');
	press('<');
	ck_assert_str_eq(top_columns[view.column].title, "SLOT%");
	press('N');
	press('<');
	ck_assert_str_eq(top_columns[view.column].title, "COMMAND");
	press('P');
	ck_assert_str_eq(order(), "10 30 20");
	press('+');
	ck_assert_uint_eq(view.delay_ns, 4 * NSEC_PER_SEC);
	view.delay_ns = TOP_SHORTEST_NS;
	press('-');
	ck_assert_uint_eq(view.delay_ns, TOP_SHORTEST_NS);
	press('Z');
	ck_assert(view.paused);
	press('!');
	press(TOP_KEY_ESCAPE);
	ck_assert(!view.quit);
	press(TOP_KEY_F10);
	ck_assert(view.quit);
}

/* No key does two things. */
TEST(one_action_a_key)
{
	static const int all[] = {
#define CODES(...)		__VA_ARGS__
#define OF(action, codes, help) CODES codes,
		TOP_KEYS(OF)
	};
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		for (j = 0; j < i; j++)
			ck_assert_int_ne(all[i], all[j]);
}

/* At the top the cursor stays there; once it was moved, at its process. */
TEST(selection)
{
	order();
	ck_assert_int_eq(view.pid, 10);
	of(10)->gpus.items[0].busy = of(10)->gpus.items[1].busy = 0;
	order();
	ck_assert_int_eq(view.pid, 30);
	press(TOP_KEY_DOWN);
	ck_assert_int_eq(view.pid, 10);
	of(10)->gpus.items[0].busy = 1000;
	ck_assert_str_eq(order(), "10 30 20");
	ck_assert_int_eq(view.pid, 10);
	ck_assert_uint_eq(view.line, 0);
	press(TOP_KEY_END);
	ck_assert_int_eq(view.pid, 20);
	press(TOP_KEY_PAGE_UP);
	press(TOP_KEY_PAGE_UP);
	press(TOP_KEY_PAGE_UP);
	ck_assert_int_eq(view.pid, 10);
	press('j');
	ck_assert_int_eq(view.pid, 30);
	press(TOP_KEY_UP);
	press(TOP_KEY_HOME);
	ck_assert_int_eq(view.pid, 10);
}

/* Its page ends with the process. */
TEST(selected_one_ends)
{
	order();
	press(TOP_KEY_END);
	press(TOP_KEY_ENTER);
	ck_assert_int_eq(view.mode, TOP_MODE_DETAILS);
	/* Keys of the list do nothing there. */
	press('g');
	press('/');
	ck_assert_int_eq(view.mode, TOP_MODE_DETAILS);
	ck_assert_int_eq(view.gpu_id, 0);
	top_process_clear(of(20));
	model.processes.items[1] = model.processes.items[2];
	model.processes.count = 2;
	order();
	ck_assert_int_eq(view.mode, TOP_MODE_LIST);
	ck_assert_str_eq(view.status, "process 20 has ended");
	ck_assert_int_eq(view.pid, 30);
}

TEST(requests)
{
	order();
	press('s');
	ck_assert_int_eq(view.ready.verb, TOP_DO_NOTHING);
	press('n');
	ck_assert_int_eq(view.ready.verb, TOP_DO_NOTHING);
	press('s');
	press('y');
	ck_assert_int_eq(view.ready.verb, TOP_DO_SUSPEND);
	ck_assert_int_eq(view.ready.pid, 10);
	ck_assert_uint_eq(view.ready.start, 1010);
	view.ready = (struct top_request){ 0 };
	press('r');
	press('Y');
	ck_assert_int_eq(view.ready.verb, TOP_DO_RESUME);
	view.ready = (struct top_request){ 0 };
	press('k');
	press('s');
	press('y');
	ck_assert_int_eq(view.ready.verb, TOP_DO_SIGNAL);
	ck_assert_int_eq(view.ready.signal, SIGSTOP);
	view.ready = (struct top_request){ 0 };
	press('k');
	press('x');
	press('y');
	ck_assert_int_eq(view.ready.verb, TOP_DO_NOTHING);
	/* The process in the question stays the same when the order changes. */
	press('s');
	of(30)->gpus.items[0].busy = 1000;
	of(10)->gpus.items[0].busy = 0;
	order();
	press('y');
	ck_assert_int_eq(view.ready.pid, 10);
	/* And so is the next key's. */
	ck_assert_int_eq(view.pid, 10);
}

TEST(not_for_others)
{
	view.root = false;
	order();
	press('s');
	ck_assert_int_eq(view.mode, TOP_MODE_LIST);
	ck_assert_str_eq(view.status, "only root can suspend a process: start it with sudo");
	press('k');
	ck_assert_int_eq(view.mode, TOP_MODE_LIST);
}

TEST(pattern)
{
	press(TOP_KEY_F4);
	press('a');
	press(0xe9);
	ck_assert_str_eq(view.filter, "a\xc3\xa9");
	press(TOP_KEY_BACKSPACE);
	ck_assert_str_eq(view.filter, "a");
	press('q');
	ck_assert(!view.quit);
	press('\r');
	ck_assert_int_eq(view.mode, TOP_MODE_LIST);
	ck_assert_str_eq(view.filter, "aq");
	press(TOP_KEY_ESCAPE);
	ck_assert_str_eq(view.filter, "");
}

TEST_FIXTURE(setup, top_teardown)
