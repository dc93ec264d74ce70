// SPDX-License-Identifier: GPL-2.0-only
/* Order, filter and groups of top, and what its keys do; its screen as text. */
#include <locale.h>

#include "ctl/top.h"
#include "unit.h"

static struct top_model model;
static struct top_view view;
static struct top_screen screen;

/* Two GPUs, no process; the view of root. */
static void top_setup(void)
{
	static const int64_t ids[] = { 0x7d63, 0x1d67 };
	struct top_gpu *gpu;
	size_t i;

	/* Widths of characters are those of a locale. */
	ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
	top_view_init(&view);
	view.delay_ns = 2 * NSEC_PER_SEC;
	view.root = true;
	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		gpu = shr_add(&model.gpus);
		*gpu = (struct top_gpu){
			.is.node.gpu_id = ids[i],
			.gpu = i,
			.busy = i ? 0 : 420,
			.method = "waves",
			.looks = 500,
			.is.waves = i ? 0 : 1234,
			.is.waves_max = 2560,
			.is.node.slots_used = i ? 0 : 8,
			.is.node.slots = 32,
			.is.vram = i ? 0 : 13207024436,
			.is.vram_used = GPREEMPT_UNKNOWN,
			.is.vram_size = 206158430208,
			.processes = i ? 0 : 3,
		};
		snprintf(gpu->is.node.device, sizeof(gpu->is.node.device), "0000:0%zu:00.0", 3 + i);
	}
}

static void top_teardown(void)
{
	top_model_clear(&model);
	top_screen_free(&screen);
}

static struct top_figure *add_figure(struct top_process *p, int64_t gpu_id, int64_t busy,
				     int64_t vram)
{
	struct top_figure *f = shr_add(&p->gpus);

	*f = (struct top_figure){
		.is.gpu_id = gpu_id,
		.gpu = gpu_id == 0x1d67,
		.busy = busy,
		.method = busy == GPREEMPT_UNKNOWN ? NULL : "waves",
		.looks = busy == GPREEMPT_UNKNOWN ? 0 : 50,
		.is.queues = 1,
		.is.waves = busy == GPREEMPT_UNKNOWN ? GPREEMPT_UNKNOWN : busy / 10,
		.is.vram = vram,
	};
	return f;
}

/* A process with a queue on that GPU, for how long that takes tenths of a percent. */
static struct top_process *add_process(int64_t pid, const char *command, int64_t gpu_id,
				       int64_t busy, int64_t vram)
{
	struct top_process *p = shr_add(&model.processes);

	p->pid = pid;
	p->start = 1000 + pid;
	strcpy(p->user, "alice");
	p->state = "active";
	p->held_by = GPREEMPT_UNKNOWN;
	p->slots_held = 1000;
	p->command = strdup(command);
	add_figure(p, gpu_id, busy, vram);
	return p;
}

/* Keys, and what is drawn then: the lines without blanks at their ends. */
static void press(int key)
{
	top_view_key(&view, &model, key);
	top_view_settle(&view, &model);
}

/* One line, in UTF-8; cells that a wide character covers have no text. */
static size_t put_line(char *at, size_t size, int y)
{
	size_t used = 0, last = 0;
	int x, i;

	for (x = 0; x < screen.width; x++) {
		const wchar_t *text = screen.cells[y * screen.width + x].text;

		for (i = 0; text[i]; i++)
			used += snprintf(at + used, size - used, "%lc", (wint_t)text[i]);
		if (*text && *text != ' ')
			last = used;
	}
	at[last] = '\0';
	return last;
}

/* One line of what was drawn last. */
static const char *line_at(int y)
{
	static char line[4096];

	put_line(line, sizeof(line), y);
	return line;
}

static const char *drawn(int width, int height)
{
	static char text[1 << 17];
	size_t used = 0;
	int y;

	top_view_settle(&view, &model);
	top_screen_resize(&screen, width, height);
	screen.utf8 = view.utf8;
	top_draw(&screen, &model, &view);
	for (y = 0; y < height; y++) {
		used += put_line(text + used, sizeof(text) - used, y);
		text[used++] = '\n';
	}
	text[used] = '\0';
	return text;
}

/* How that cell looks. */
static enum top_look look_at(int y, int x)
{
	return screen.cells[y * screen.width + x].look;
}

/* The PIDs of the lines, blanks between; a heading is its group in (). */
static const char *order(void)
{
	static char text[4096];
	size_t i, used = 0;

	top_view_settle(&view, &model);
	*text = '\0';
	for (i = 0; i < model.lines.count; i++) {
		const struct top_line *line = &model.lines.items[i];

		used += line->process ? sprintf(text + used, "%s%lld", i ? " " : "",
						(long long)line->process->pid) :
					sprintf(text + used, "%s(%s)", i ? " " : "", line->group);
	}
	return text;
}

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
	of(10)->gpus.items[0].is.evicted_ms = 5;
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

/* T groups by tenant, and ends that; t goes on with its own groups. */
TEST(tenants)
{
	strcpy(of(10)->tenant, "offline, 1.0 s on GPUs: comm:a");
	strcpy(of(30)->tenant, "offline, 1.0 s on GPUs: comm:a");
	press('T');
	ck_assert_str_eq(view.status, "groups: tenant");
	ck_assert_str_eq(order(), "(offline, 1.0 s on GPUs: comm:a) 10 30 (no tenant of guard) 20");
	press('T');
	ck_assert_str_eq(order(), "10 30 20");
	press('T');
	press('t');
	ck_assert_str_eq(view.status, "groups: cgroup");
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

#define GIB (1LL << 30)

static struct top_process *train, *serve;

/* Two of them, and a history that rises. */
static void screen_setup(void)
{
	static const int64_t busy[] = { 0, 300, 600, 900 };
	struct top_process *p;
	size_t i;

	top_setup();
	add_process(4711, "python3 train.py", 0x7d63, 420, 12 * GIB);
	p = add_process(4800, "serve --port 1", 0x7d63, GPREEMPT_UNKNOWN, GIB / 2);
	p->state = "suspended";
	p->held_by = 4811;
	strcpy(p->held_as, "suspend");
	strcpy(p->container, "web");
	add_figure(p, 0x1d67, 100, 0);
	train = &model.processes.items[0];
	serve = &model.processes.items[1];
	for (i = 0; i < ARRAY_SIZE(busy); i++) {
		top_history_add(&model.gpus.items[0].history, busy[i]);
		top_history_add(&train->history, busy[i]);
	}
}

TEST(usual)
{
	view.utf8 = true;
	ck_assert_str_eq(
		drawn(80, 24),
		"gpreempt-ctl top: 2 processes, 2 GPUs, every 2s\n"
		"GPU 0      [||||||||||         42%] waves 1234/2560  VRAM 12.3G/192.0G        ⢠⣾\n"
		"GPU 1      [                    0%] waves 0/2560     VRAM 0B/192.0G\n"
		"    PID USER      GPUS     BUSY%       VRAM STATE      HELD-BY COMMAND\n"
		"   4711 alice     0           42   12.0 GiB active           - python3 train.py\n"
		"   4800 alice     2 GPUs      10  512.0 MiB suspended     4811 serve --port 1\n"
		"\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"
		"? help  / filter  < > sort  t groups  g GPU  Enter details  s suspend  r resume\n");
	/* Colours of the text. */
	ck_assert_int_eq(look_at(4, 0), TOP_SELECTED);
	ck_assert_int_eq(look_at(5, 0), TOP_PLAIN);
	ck_assert_int_eq(look_at(5, 45), TOP_WARNING);
	ck_assert_int_eq(look_at(3, 0), TOP_HEADING);
	ck_assert_int_eq(look_at(1, 12), TOP_GOOD);
}

TEST(narrow)
{
	ck_assert_str_eq(drawn(40, 10), "2 processes, 2 GPUs, every 2s\n"
					"GPU 0      [||||||||||||            42%]\n"
					"GPU 1      [                         0%]\n"
					"    PID  BUSY% STATE      COMMAND\n"
					"   4711     42 active     python3 train.\n"
					"   4800     10 suspended  serve --port 1\n"
					"\n\n\n"
					"? help  / filter  < > sort  t groups  g\n");
}

/* No size makes it write beside its cells; the sanitizer looks. */
TEST(all_sizes)
{
	static const int keys[] = { 0, '?', TOP_KEY_ENTER, 't', 's', 'k', '/' };
	int width, height;
	size_t i;

	model.missing = strdup("BUSY% is not known: some reason that is long; "
			       "next: a step");
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		view.mode = TOP_MODE_LIST;
		top_view_settle(&view, &model);
		press(keys[i]);
		for (height = 1; height < 30; height++)
			for (width = 1; width < 130; width += 3)
				drawn(width, height);
	}
}

/* A process's text takes its columns and no more. */
TEST(hostile)
{
	struct top_process *p = add_process(5000,
					    "\xe4\xbd\xa0\xe5\xa5\xbd\033[2J\n e\xcc\x81\xff|",
					    0x7d63, 35, 0);

	strcpy(p->user, "\033]0;x\007lonelyuser");
	view.utf8 = true;
	drawn(80, 10);
	ck_assert_str_eq(line_at(6),
			 "   5000 \\033]0;x\\ 0            4          0 active           - "
			 "\xe4\xbd\xa0\xe5\xa5\xbd\\033[2J\\012 e\xcc\x81");
	drawn(100, 10);
	ck_assert_ptr_nonnull(strstr(line_at(6), " e\xcc\x81\\377|"));
	view.utf8 = false;
	drawn(100, 10);
	ck_assert_ptr_nonnull(strstr(line_at(6), " ??\\033[2J\\012 e?\\377|"));
	/* Half of a wide character is none. */
	view.utf8 = true;
	drawn(18, 10);
	ck_assert_str_eq(line_at(6), "   5000      4 \xe4\xbd\xa0");
}

TEST(group_headings)
{
	strcpy(train->cgroup, "/kubepods/a");
	strcpy(serve->cgroup, "/kubepods/b\033");
	add_process(4900, "other", 0x7d63, 77, 0);
	strcpy(model.processes.items[2].cgroup, "/kubepods/a");
	press('t');
	ck_assert_str_eq(
		drawn(80, 11),
		"gpreempt-ctl top: 3 processes, 2 GPUs, every 2s\n"
		"GPU 0      [||||||||||         42%] waves 1234/2560  VRAM 12.3G/192.0G        :#\n"
		"GPU 1      [                    0%] waves 0/2560     VRAM 0B/192.0G\n"
		"    PID USER      GPUS     BUSY%       VRAM STATE      HELD-BY COMMAND\n"
		"/kubepods/a                                                2 processes, BUSY% 50\n"
		"   4711 alice     0           42   12.0 GiB active           -   python3 train.p\n"
		"   4900 alice     0            8          0 active           -   other\n"
		"/kubepods/b\\033                                              1 process, BUSY% 10\n"
		"   4800 alice     2 GPUs      10  512.0 MiB suspended     4811   serve --port 1\n"
		"\ngroups: cgroup\n");
}

TEST(filter)
{
	press('/');
	press('W');
	press('e');
	drawn(80, 10);
	ck_assert_str_eq(line_at(9), "filter: We");
	ck_assert_str_eq(line_at(4),
			 "   4800 alice     2 GPUs      10  512.0 MiB suspended     4811 serve --port 1");
	ck_assert_str_eq(line_at(5), "");
	press(TOP_KEY_ENTER);
	drawn(80, 10);
	ck_assert_str_eq(line_at(9),
			 "filter We  ? help  / filter  < > sort  t groups  g GPU  Enter details  s suspend");
	press('/');
	press('x');
	drawn(80, 10);
	ck_assert_str_eq(line_at(4), "no process is like that");
	press(TOP_KEY_ESCAPE);
	drawn(80, 10);
	ck_assert_ptr_nonnull(strstr(line_at(4), "4711"));
}

TEST(help)
{
	const char *text;

	press('?');
	text = drawn(80, 60);
	ck_assert_ptr_nonnull(strstr(text, "\n  q F10 Ctrl-C   quit\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n  COMMAND    its command line\n"));
	/* In a small terminal it is moved, and not beyond its end. */
	drawn(80, 10);
	ck_assert_str_eq(line_at(1), "Keys");
	press(TOP_KEY_END);
	drawn(80, 10);
	ck_assert_str_eq(line_at(8), "  COMMAND    its command line");
	press(TOP_KEY_UP);
	drawn(80, 10);
	ck_assert_str_eq(line_at(8), "  JOB        its job of Slurm");
	press('q');
	ck_assert_int_eq(view.mode, TOP_MODE_LIST);
	ck_assert(!view.quit);
}

TEST(details)
{
	struct top_queue *q = shr_add(&model.queues);

	*q = (struct top_queue){
		.q = { .qid = 3,
		       .gpu_id = 0x7d63,
		       .active = 4,
		       .slots = 4,
		       .waves = 17,
		       .priority = 7,
		       .rptr = 64,
		       .wptr = 128 },
		.type = "compute-aql",
		.state = "suspended",
	};
	strcpy(serve->cgroup, "/a");
	drawn(80, 24);
	press(TOP_KEY_DOWN);
	press(TOP_KEY_ENTER);
	ck_assert_str_eq(drawn(120, 14),
			 "gpreempt-ctl top: 2 processes, 2 GPUs, every 2s\n"
			 "process 4800  serve --port 1\n"
			 "user alice  state suspended\n"
			 "held by process 4811 (suspend)\n"
			 "container web\n"
			 "cgroup /a\n"
			 "\n"
			 "GPU  BUSY%  METHOD  LOOKS  QUEUES  SUSPENDED  WAVES       VRAM  EVICT-MS  "
			 "SUSP-MS  HOLDS  HISTORY\n"
			 "  0      -  -           0       1          0      -  512.0 MiB         0  "
			 "      0      0\n"
			 "  1     10  waves      50       1          0     10          0         0  "
			 "      0      0\n"
			 "\n"
			 "QUEUE  GPU  TYPE         STATE      ACTIVE  SLOTS  WAVES  PRIORITY  RPTR  WPTR\n"
			 "    3    0  compute-aql  suspended       4      4     17         7    64   128\n"
			 "Esc back  s suspend  r resume  k signal\n");
	press(TOP_KEY_ESCAPE);
	ck_assert_int_eq(view.mode, TOP_MODE_LIST);
}

/* Its GPUs alone, in the order of the list of GPUs, which is not that of their numbers. */
TEST(details_gpus)
{
	struct top_process *p = add_process(5000, "two", 0x1d67, 10, 0);

	add_figure(p, 0x7d63, 20, 0);
	add_figure(p, 0xbd6b, GPREEMPT_UNKNOWN, 0)->is.queues = 0;
	top_view_settle(&view, &model);
	press(TOP_KEY_END);
	press(TOP_KEY_ENTER);
	drawn(80, 14);
	ck_assert_ptr_nonnull(strstr(line_at(5), "GPU  BUSY%"));
	ck_assert_msg(!strncmp(line_at(6), "  0      2", 10), "%s", line_at(6));
	ck_assert_int_eq(strncmp(line_at(7), "  1      1", 10), 0);
	ck_assert_str_eq(line_at(8), "");
	p = (struct top_process *)top_find(&model, 5000);
	p->gpus.items[0].is.queues = p->gpus.items[1].is.queues = 0;
	drawn(80, 14);
	ck_assert_str_eq(line_at(5), "it has no queue and no memory on a GPU");
}

/* A few hundred looks have no tenths of a percent. */
TEST(shares)
{
	strcpy(train->cgroup, "/a");
	model.gpus.items[0].busy = train->gpus.items[0].busy = 333;
	press('t');
	drawn(80, 12);
	ck_assert_ptr_nonnull(strstr(line_at(1), " 33%]"));
	ck_assert_ptr_nonnull(strstr(line_at(2), "   0%]"));
	ck_assert_ptr_nonnull(strstr(line_at(4), "1 process, BUSY% 33"));
	ck_assert_ptr_nonnull(strstr(line_at(5), " 0           33   12.0 GiB"));
	press(TOP_KEY_DOWN);
	press(TOP_KEY_ENTER);
	drawn(80, 12);
	ck_assert_ptr_nonnull(strstr(line_at(6), "  0     33  waves"));
}

/* The last line has the place in a list or page that is longer than the screen. */
TEST(more_below)
{
	int i;

	for (i = 0; i < 18; i++)
		add_process(5000 + i, "x", 0x7d63, 0, 0);
	top_view_settle(&view, &model);
	press(TOP_KEY_END);
	drawn(80, 10);
	ck_assert_int_eq(strncmp(line_at(9), "16-20 of 20  ? help", 19), 0);
	press('?');
	drawn(80, 24);
	press(TOP_KEY_PAGE_DOWN);
	drawn(80, 24);
	ck_assert_int_eq(strncmp(line_at(23), "23-44 of ", 9), 0);
}

/* Output of a command is there whole, over the end of the list. */
TEST(long_status)
{
	snprintf(view.status, sizeof(view.status), "suspended 4711: %0300d; the end\033", 7);
	drawn(80, 10);
	ck_assert_str_eq(line_at(5), "suspended 4711:");
	ck_assert_ptr_nonnull(strstr(line_at(9), "7; the end\\033"));
}

/* Eight GPUs leave half of the screen to the processes. */
TEST_EACH(many_gpus, 3)
{
	static const struct {
		int width, height, lines;
		const char *last;
	} cases[] = {
		{ 80, 24, 8, "GPU 8 " },
		{ 80, 14, 5, "and 4 GPUs more; g shows each" },
		{ 120, 14, 4, "GPU 4 " },
	};
	size_t i;

	model.gpus.count = 0;
	for (i = 1; i <= 8; i++) {
		struct top_gpu *gpu = shr_add(&model.gpus);

		gpu->is.node.gpu_id = i;
		gpu->gpu = i;
	}
	drawn(cases[_i].width, cases[_i].height);
	ck_assert_ptr_nonnull(strstr(line_at(cases[_i].lines), cases[_i].last));
	ck_assert_ptr_nonnull(strstr(line_at(cases[_i].lines + 1), "PID"));
	if (_i == 2)
		ck_assert_ptr_nonnull(strstr(line_at(1), "GPU 5 "));
}

/* Each action is asked first; the question may be cut, "y/N" is not. */
TEST(asks)
{
	drawn(80, 10);
	press('s');
	drawn(80, 10);
	ck_assert_str_eq(line_at(9), "suspend 4711 python3 train.py until it is resumed? y/N");
	drawn(30, 10);
	ck_assert_str_eq(line_at(9), "suspend 4711 python3 train y/N");
	press('n');
	drawn(80, 10);
	ck_assert_str_eq(line_at(9), "nothing was done");
	press('k');
	drawn(80, 10);
	ck_assert_str_eq(line_at(9), "signal to 4711: t TERM  k KILL  s STOP  c CONT  i INT");
	press('k');
	drawn(80, 10);
	ck_assert_str_eq(line_at(9), "send SIGKILL to 4711 python3 train.py? y/N");
}

TEST(says_what_is_missing)
{
	model.missing = strdup("BUSY% is not known: gpreempt.ko is not loaded; "
			       "next: gpreempt-ctl module load");
	model.simulated = true;
	view.paused = true;
	drawn(60, 12);
	ck_assert_str_eq(line_at(0), "2 processes, 2 GPUs, every 2s, PAUSED, simulated GPU");
	ck_assert_str_eq(line_at(1), "BUSY% is not known: gpreempt.ko is not loaded; next:");
	ck_assert_str_eq(line_at(2), "gpreempt-ctl module load");
	ck_assert_ptr_nonnull(strstr(line_at(3), "GPU 0 "));
}

TEST(no_process)
{
	while (model.processes.count)
		top_process_clear(&model.processes.items[--model.processes.count]);
	drawn(80, 10);
	ck_assert_str_eq(line_at(4), "no process uses the GPU");
	press(TOP_KEY_ENTER);
	press('s');
	ck_assert_str_eq(view.status, "choose a process first");
}

TEST_FIXTURE(screen_setup, top_teardown)
