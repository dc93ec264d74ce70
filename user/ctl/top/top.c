// SPDX-License-Identifier: GPL-2.0-only
/* Processes on the GPUs, how busy they are, and what can be done with them. */
#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>

#include "ctl/command/ctl.h"
#include "ctl/top/columns.h"
#include "ctl/top/keys.h"
#include "ctl/top/top.h"
#include "shared/signals.h"

/* 0, or the exit status after saying what is wrong. */
static int check(const struct top_args *args)
{
	if (args->delay_ns < TOP_SHORTEST_NS || args->delay_ns > TOP_LONGEST_NS)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-ctl top --help",
				     "--delay is from 100ms to 1h");
	if (!args->batch && args->mode != OUT_JSON &&
	    !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-ctl top --batch, or --json",
				     "the screen of top needs a terminal");
	return 0;
}

static int run_top(void *data)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGWINCH, 0 };
	const struct top_args *args = data;
	struct top t = { .args = args };
	struct gpreempt *g = NULL;
	int ret = check(args);

	if (!ret)
		ret = ctl_open(NULL, &g);
	if (ret)
		return ret;
	ctl_sampler_init(&t.sampler, g, args->looks_ns);
	top_view_init(&t.view);
	t.view.delay_ns = args->delay_ns;
	t.view.root = !geteuid();
	if (args->batch || args->mode == OUT_JSON) {
		t.stop = shr_signals_open_stop();
		ret = top_batch(&t);
	} else {
		t.stop = shr_signals_open(signals);
		ret = top_interactive(&t);
	}
	if (t.stop >= 0)
		close(t.stop);
	top_model_clear(&t.model);
	ctl_sampler_clear(&t.sampler);
	gpreempt_free(g);
	return ret;
}

static const struct ctl_option options[] = {
	{ "batch", CTL_FLAG, offsetof(struct top_args, batch), NULL,
	  "print a table of the processes at each refresh" },
	CTL_JSON_OPTION(struct top_args),
	{ "count", CTL_COUNT, offsetof(struct top_args, count), "N",
	  "end after that many refreshes (-n N)" },
	{ "delay", CTL_DURATION, offsetof(struct top_args, delay_ns), "TIME",
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
		"make 800. Looks are taken while top runs; there is no daemon. top does not\n"
		"open /dev/kfd. \"-\" is what is not known, as BUSY% is without gpreempt.ko.\n"
		"\n"
		"Keys:\n" TOP_KEYS_HELP "\n"
		"Columns, as many as the terminal is wide enough for:\n" TOP_COLUMNS_HELP "\n"
		"NO_COLOR, if it is set, means no colours. Without a UTF-8 locale all is ASCII.\n"
		"--json prints one object a line at each refresh, with all GPUs of each process.\n"
		"The screen needs the library ncurses; --batch and --json do not.\n",
	.options = options,
	.defaults = &(const struct top_args){ .delay_ns = 2 * NSEC_PER_SEC },
};
