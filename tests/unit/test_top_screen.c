// SPDX-License-Identifier: GPL-2.0-only
/* The screen of top, without a terminal. */
#include "unit-top.h"

#define GIB (1LL << 30)

static struct top_process *train, *serve;

/* Two of them, and a history that rises. */
static void setup(void)
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

#define HINTS "? help  / filter  < > sort  t groups  g GPU  Enter details"
#define ROOT  "  s suspend  r resume  k signal"

TEST(usual)
{
	view.utf8 = true;
	ck_assert_str_eq(
		drawn(80, 24),
		"gpreempt-ctl top: 2 processes, 2 GPUs, every 2s\n"
		"GPU 0      [||||||||||       42.0%] waves 1234/2560  VRAM 12.3G/192.0G        ⢠⣾\n"
		"GPU 1      [                  0.0%] waves 0/2560     VRAM 0B/192.0G\n"
		"    PID USER      GPUS     BUSY%       VRAM STATE      HELD-BY COMMAND\n"
		"   4711 alice     0         42.0   12.0 GiB active           - python3 train.py\n"
		"   4800 alice     2 GPUs    10.0  512.0 MiB suspended     4811 serve --port 1\n"
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
					"GPU 0      [||||||||||||          42.0%]\n"
					"GPU 1      [                       0.0%]\n"
					"    PID  BUSY% STATE      COMMAND\n"
					"   4711   42.0 active     python3 train.\n"
					"   4800   10.0 suspended  serve --port 1\n"
					"\n\n\n"
					"? help  / filter  < > sort  t groups  g\n");
}

TEST(wide)
{
	char expected[4096];
	int i;

	view.root = false;
	strcpy(expected,
	       "gpreempt-ctl top: 2 processes, 2 GPUs, every 2s\n"
	       "GPU 0      0000:03:00.0 [||||||||||       42.0%] waves 1234/2560  slots 8/32 "
	       " VRAM 12.3G/192.0G  3 procs"
	       "                                                                 :#\n"
	       "GPU 1      0000:04:00.0 [                  0.0%] waves 0/2560     slots 0/32 "
	       " VRAM 0B/192.0G     0 procs\n"
	       "    PID USER      GPUS     BUSY% METHOD  HISTORY     WAVES  SLOT%       VRAM"
	       "  EVICT-MS  SUSP-MS HOLDS STATE      HELD-BY AS       CONTAINER    COMMAND\n"
	       "   4711 alice     0         42.0 waves           :#     42  100.0   12.0 GiB"
	       "         0        0     0 active           - -        -            python3 train.py\n"
	       "   4800 alice     2 GPUs    10.0 waves                  10  100.0  512.0 MiB"
	       "         0        0     0 suspended     4811 suspend  web          serve --port 1\n");
	for (i = 0; i < 53; i++)
		strcat(expected, "\n");
	strcat(expected, HINTS "  q quit\n");
	ck_assert_str_eq(drawn(200, 60), expected);
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
		ck_assert_int_eq(top_view_settle(&view, &model), 0);
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
			 "   5000 \\033]0;x\\ 0          3.5          0 active           - "
			 "\xe4\xbd\xa0\xe5\xa5\xbd\\033[2J\\012 e\xcc\x81");
	drawn(100, 10);
	ck_assert_ptr_nonnull(strstr(line_at(6), " e\xcc\x81\\377|"));
	view.utf8 = false;
	drawn(100, 10);
	ck_assert_ptr_nonnull(strstr(line_at(6), " ??\\033[2J\\012 e?\\377|"));
	/* Half of a wide character is none. */
	view.utf8 = true;
	drawn(18, 10);
	ck_assert_str_eq(line_at(6), "   5000    3.5 \xe4\xbd\xa0");
}

TEST(groups)
{
	strcpy(train->cgroup, "/kubepods/a");
	strcpy(serve->cgroup, "/kubepods/b\033");
	add_process(4900, "other", 0x7d63, 77, 0);
	strcpy(model.processes.items[2].cgroup, "/kubepods/a");
	press('t');
	ck_assert_str_eq(
		drawn(80, 11),
		"gpreempt-ctl top: 3 processes, 2 GPUs, every 2s\n"
		"GPU 0      [||||||||||       42.0%] waves 1234/2560  VRAM 12.3G/192.0G        :#\n"
		"GPU 1      [                  0.0%] waves 0/2560     VRAM 0B/192.0G\n"
		"    PID USER      GPUS     BUSY%       VRAM STATE      HELD-BY COMMAND\n"
		"/kubepods/a                                              2 processes, BUSY% 49.7\n"
		"   4711 alice     0         42.0   12.0 GiB active           -   python3 train.p\n"
		"   4900 alice     0          7.7          0 active           -   other\n"
		"/kubepods/b\\033                                            1 process, BUSY% 10.0\n"
		"   4800 alice     2 GPUs    10.0  512.0 MiB suspended     4811   serve --port 1\n"
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
			 "   4800 alice     2 GPUs    10.0  512.0 MiB suspended     4811 serve --port 1");
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
			 "  1   10.0  waves      50       1          0     10          0         0  "
			 "      0      0\n"
			 "\n"
			 "QUEUE  GPU  TYPE         STATE      ACTIVE  SLOTS  WAVES  PRIORITY  RPTR  WPTR\n"
			 "    3    0  compute-aql  suspended       4      4     17         7    64   128\n"
			 "Esc back  s suspend  r resume  k signal\n");
	press(TOP_KEY_ESCAPE);
	ck_assert_int_eq(view.mode, TOP_MODE_LIST);
}

/* Eight GPUs leave half of the screen to the processes. */
TEST_EACH(many_gpus, 3)
{
	static const struct {
		int width, height, lines;
		const char *last;
	} cases[] = {
		{ 80, 24, 8, "GPU 8 " },
		{ 80, 14, 5, "and 4 GPUs more" },
		{ 120, 14, 4, "GPU 4 " },
	};
	size_t i;

	model.gpus.count = 0;
	for (i = 1; i <= 8; i++) {
		struct top_gpu *gpu = shr_add(&model.gpus);

		gpu->gpu_id = i;
		gpu->gpu = i;
	}
	drawn(cases[_i].width, cases[_i].height);
	ck_assert_ptr_nonnull(strstr(line_at(cases[_i].lines), cases[_i].last));
	ck_assert_ptr_nonnull(strstr(line_at(cases[_i].lines + 1), "PID"));
	if (_i == 2)
		ck_assert_ptr_nonnull(strstr(line_at(1), "GPU 5 "));
}

TEST(one_gpu)
{
	press('g');
	press('g');
	drawn(80, 10);
	ck_assert_ptr_nonnull(strstr(line_at(1), "GPU 1 "));
	ck_assert_str_eq(line_at(3),
			 "   4800 alice     1         10.0          0 suspended     4811 serve --port 1");
	ck_assert_str_eq(line_at(9), "GPU 1 alone");
	press('g');
	drawn(80, 10);
	ck_assert_ptr_nonnull(strstr(line_at(1), "GPU 0 "));
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

TEST_FIXTURE(setup, top_teardown)
