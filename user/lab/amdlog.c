// SPDX-License-Identifier: GPL-2.0-only
/* ROCm's log: which hardware queues a process used, and how. */
#include <inttypes.h>
#include <string.h>

#include "amdlog.h"
#include "cli/cli.h"
#include "load.h"
#include "cli/table.h"
#include "shared/util.h"

/* Largest step back in time that threads which write at once explain. */
#define BACK_US 1000000

#define QUEUE(member, title, what, ...) \
	OUT_FIELD(struct gp_amdlog_queue, member, title, what, __VA_ARGS__)

static const struct out_field fields[] = {
	QUEUE(pid, "PID", OUT_DEC),
	QUEUE(hwq, "HWQ", OUT_HEX),
	QUEUE(swq, "SWQ", OUT_HEX),
	QUEUE(id, "ID", OUT_DEC),
	QUEUE(priority, "PRIO", OUT_TEXT),
	QUEUE(size, NULL, OUT_DEC),
	QUEUE(created, "CREATED", OUT_DEC),
	QUEUE(acquired, "ACQUIRED", OUT_DEC),
	QUEUE(released, "RELEASED", OUT_DEC),
	QUEUE(deleted, NULL, OUT_DEC),
	QUEUE(dispatches, "DISPATCHES", OUT_DEC),
	QUEUE(barriers, "BARRIERS", OUT_DEC),
	QUEUE(first_rptr, "RPTR", OUT_DEC),
	QUEUE(first_wptr, "WPTR", OUT_DEC),
	QUEUE(last_rptr, "LAST RPTR", OUT_DEC),
	QUEUE(last_wptr, "LAST WPTR", OUT_DEC),
	QUEUE(backlog, "BACKLOG", OUT_DEC),
	QUEUE(first_us, NULL, OUT_DEC),
	QUEUE(last_us, NULL, OUT_DEC),
	QUEUE(line, NULL, OUT_DEC),
	QUEUE(waiting, "WAITING", OUT_DEC, .spare = true),
	QUEUE(aborted_us, "ABORTED US", OUT_DEC, .spare = true),
	QUEUE(error_code, NULL, OUT_HEX),
	QUEUE(error, "ERROR", OUT_TEXT, .spare = true),
	QUEUE(kernel, "KERNEL", OUT_TEXT, .spare = true),
};

static const struct out_table queues_table = OUT_TABLE("queues", fields, struct gp_amdlog_queue);

#define PROCESS(member, title, what) OUT_FIELD(struct gp_amdlog_process, member, title, what)

static const struct out_field process_fields[] = {
	PROCESS(pid, "PID", OUT_DEC),	      PROCESS(lines, "LINES", OUT_DEC),
	PROCESS(kernels, "KERNELS", OUT_DEC), PROCESS(dispatches, "DISPATCHES", OUT_DEC),
	PROCESS(run_us, "RUN US", OUT_DEC),   PROCESS(back_us, NULL, OUT_DEC),
};

static const struct out_table processes_table =
	OUT_TABLE("processes", process_fields, struct gp_amdlog_process);

static const struct out_field problem_fields[] = {
	OUT_FIELD(struct gp_amdlog_problem, line, "LINE", OUT_DEC),
	OUT_FIELD(struct gp_amdlog_problem, what, "PROBLEM", OUT_TEXT),
};

static const struct out_table problems_table =
	OUT_TABLE("problems", problem_fields, struct gp_amdlog_problem);

static int print_json(const struct gp_amdlog_data *d)
{
	struct json_object *object = json_object_new_object();

	out_add(object, "queues", out_json_rows(&queues_table, d->queues, d->n_queues));
	out_add(object, "processes", out_json_rows(&processes_table, d->processes, d->n_processes));
	out_add(object, "level", json_object_new_int64(d->level));
	out_add(object, "hip_version", out_json_text(*d->version ? d->version : NULL));
	out_add(object, "lines", json_object_new_int64(d->lines));
	out_add(object, "other_lines", json_object_new_int64(d->other_lines));
	out_add(object, "problems", out_json_rows(&problems_table, d->problems, d->kept));
	out_add(object, "n_problems", json_object_new_int64(d->n_problems));
	out_json_print(object);
	return 0;
}

#define PROBLEMS_SHOWN 20

static void note_problems(const struct gp_amdlog_data *d)
{
	size_t i, shown = d->kept < PROBLEMS_SHOWN ? d->kept : PROBLEMS_SHOWN;

	for (i = 0; i < shown; i++)
		ctl_note("line %" PRId64 ": %s", d->problems[i].line, d->problems[i].what);
	if (d->n_problems > shown)
		ctl_note("and %" PRIu64 " more; --json has the first %zu", d->n_problems - shown,
			 d->kept);
}

static void note_packets(const struct gp_amdlog_data *d)
{
	size_t i;

	for (i = 0; i < d->n_processes; i++)
		if (d->processes[i].dispatches == GPREEMPT_UNKNOWN)
			break;
	if (i == d->n_processes && (i || !d->n_queues))
		return;
	ctl_note("dispatches are not known where they are \"-\": " GP_AMDLOG_PACKETS_FROM);
}

static int print_table(const struct gp_amdlog_data *d)
{
	enum out_mode mode = out_mode();
	size_t i;

	out_rows(mode, &processes_table, d->processes, d->n_processes);
	putchar('\n');
	out_rows(mode, &queues_table, d->queues, d->n_queues);
	note_problems(d);
	for (i = 0; i < d->n_processes; i++)
		if (d->processes[i].back_us > BACK_US)
			ctl_note("the log is not in order: a line is %.1f s "
				 "earlier than one before it. First and last "
				 "are by time",
				 d->processes[i].back_us / 1e6);
	note_packets(d);
	return 0;
}

static bool one_process(const struct gp_amdlog_data *d)
{
	return d->n_processes == 1 && d->processes->pid != GPREEMPT_UNKNOWN;
}

static void print_addresses(const struct gp_amdlog_data *d, const char *between)
{
	size_t i, n = 0;

	for (i = 0; i < d->n_queues; i++)
		if (d->queues[i].hwq != GPREEMPT_UNKNOWN)
			printf("%s0x%" PRIx64, n++ ? between : "", d->queues[i].hwq);
}

/* Numbers of a queue in Python. */
static const struct out_field python_fields[] = {
	QUEUE(pid, NULL, OUT_DEC),
	QUEUE(hwq, NULL, OUT_HEX),
	QUEUE(swq, NULL, OUT_HEX),
	QUEUE(id, NULL, OUT_DEC),
	QUEUE(acquired, NULL, OUT_DEC),
	QUEUE(dispatches, NULL, OUT_DEC),
	OUT_NAMED("rptr", struct gp_amdlog_queue, last_rptr, NULL, OUT_DEC),
	OUT_NAMED("wptr", struct gp_amdlog_queue, last_wptr, NULL, OUT_DEC),
	QUEUE(backlog, NULL, OUT_DEC),
};

static void print_python_queue(const struct gp_amdlog_queue *row)
{
	size_t i;

	printf("    {");
	for (i = 0; i < ARRAY_SIZE(python_fields); i++) {
		int64_t value = out_number_of(python_fields + i, row);

		printf("\"%s\": ", python_fields[i].name);
		if (value == GPREEMPT_UNKNOWN)
			printf("None, ");
		else if (python_fields[i].kind == OUT_HEX)
			printf("0x%" PRIx64 ", ", value);
		else
			printf("%" PRId64 ", ", value);
	}
	if (row->priority)
		printf("\"priority\": \"%s\"},\n", row->priority);
	else
		printf("\"priority\": None},\n");
}

/* Print the same facts as assignments, for scripts. */
static int print_python(const struct gp_amdlog_data *d)
{
	size_t i;

	printf("# Made by gpreempt-lab amdlog. None: the log does not say it.\n");
	printf("PID = ");
	if (one_process(d))
		printf("%" PRId64 "\n", d->processes->pid);
	else
		printf("None\n");
	/* An address is its process's own: of several, none is meant alone. */
	printf("HARDWARE_QUEUES = ");
	if (d->n_processes > 1) {
		printf("None  # of %zu processes: see QUEUES, or use --pid", d->n_processes);
	} else {
		putchar('[');
		print_addresses(d, ", ");
		putchar(']');
	}
	printf("\nQUEUES = [\n");
	for (i = 0; i < d->n_queues; i++)
		print_python_queue(d->queues + i);
	printf("]\n");
	return 0;
}

static int print_shell(const struct gp_amdlog_data *d)
{
	if (d->n_processes > 1)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE,
				     "--pid names one; --format table shows them",
				     "--format shell: the log is of %zu processes", d->n_processes);
	printf("# Made by gpreempt-lab amdlog. Empty: the log does not say it.\n"
	       "GPREEMPT_PID=");
	if (one_process(d))
		printf("%" PRId64, d->processes->pid);
	printf("\nGPREEMPT_HARDWARE_QUEUES='");
	print_addresses(d, " ");
	printf("'\nGPREEMPT_DISPATCHES=");
	if (d->n_processes && d->processes->dispatches != GPREEMPT_UNKNOWN)
		printf("%" PRId64, d->processes->dispatches);
	putchar('\n');
	return 0;
}

static int fail_other(const char *path, const struct text_guess *guess)
{
	if (guess)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, guess->next,
				     "%s: %s, not a log of ROCm", path, guess->what);
	return ctl_fail_text(GPREEMPT_CLASS_FAILED, "run the program with AMD_LOG_LEVEL=5",
			     "%s: no line of ROCm's log is in it", path);
}

/* "-" is stdin. 0, or the exit status after saying why not. */
static int read_file(const char *path, int64_t pid, struct gp_amdlog **out)
{
	const struct text_guess *guess = NULL;
	const struct gp_amdlog_data *d;
	int ret = amdlog_read_fd(text_open(path), pid, NULL, NULL, &guess, out);

	if (ret)
		return text_fail(path, ret);
	d = gp_amdlog_get(*out);
	return d->records || d->n_queues ? 0 : fail_other(path, guess);
}

struct amdlog_args {
	struct ctl_words files;
	uint64_t only_pid; /* 0: of all */
	const char *format;
	enum out_mode mode;
};

static const struct {
	const char *word;
	/* Prints the data. 0, or the exit status. */
	int (*print)(const struct gp_amdlog_data *d);
} formats[] = {
	{ "table", print_table },
	{ "json", print_json },
	{ "python", print_python },
	{ "shell", print_shell },
};

static int run_amdlog(void *data)
{
	const struct amdlog_args *args = data;
	const char *format = args->format ? args->format : "table";
	const struct gp_amdlog_data *d;
	struct gp_amdlog *log = NULL;
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(format, formats[i].word))
			break;
	if (i == ARRAY_SIZE(formats))
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-lab amdlog --help",
				     "--format \"%s\": table, json, python or "
				     "shell",
				     format);
	ret = read_file(args->files.word[0],
			args->only_pid ? (int64_t)args->only_pid : GPREEMPT_UNKNOWN, &log);
	if (ret) {
		gp_amdlog_free(log);
		return ret;
	}
	d = gp_amdlog_get(log);
	if (args->only_pid && !d->n_processes)
		ret = ctl_fail_text(GPREEMPT_CLASS_NO_TARGET,
				    "the log has a process's own number: "
				    "gpreempt-lab pidmap shows both",
				    "process %" PRIu64 " is not in this log", args->only_pid);
	else
		ret = args->mode == OUT_JSON ? print_json(d) : formats[i].print(d);
	if (!ret && d->n_problems)
		ret = GPREEMPT_CLASS_PARTIAL;
	gp_amdlog_free(log);
	return ret;
}

static const struct ctl_option options[] = {
	{ "pid", CTL_COUNT, offsetof(struct amdlog_args, only_pid), "PID",
	  "only this process, by its PID in the log" },
	{ "format", CTL_NAME, offsetof(struct amdlog_args, format), "WORD",
	  "table, json, python or shell" },
	CTL_JSON_OPTION(struct amdlog_args),
	{ 0 },
};

const struct ctl_command ctl_amdlog = {
	.name = "amdlog",
	.run = run_amdlog,
	.args_size = sizeof(struct amdlog_args),
	.words = CTL_FILES,
	.words_at = offsetof(struct amdlog_args, files),
	.min_words = 1,
	.max_words = 1,
	.usage = "FILE",
	.examples = "  gpreempt-lab amdlog amd.log --format python > queue_config.py\n",
	.options = options,
	.summary = "Show the hardware queues in ROCm's log.",
	.details =
		"FILE is the output of a HIP program with AMD_LOG_LEVEL=5, \"-\" for stdin; of any\n"
		"length. Level 3 has queues, level 5 packets too (up to ROCm 7.2, level 4). With\n"
		"AMD_LOG_MASK=2200 beside it the log has only what is read, and is small.\n"
		"A fault is in the output at each level: which queue died, when and why, how many\n"
		"packets waited in it, and the kernel at its head.\n"
		"BACKLOG is the highest number of packets that waited in a queue when one was\n"
		"added; ROCm 6 and newer log rptr and wptr. ROCm 5 names a queue by one address\n"
		"when it is created and by another in its packets: these are two lines.\n"
		"Exit status 6: some lines could not be read. 1: it is no such log.\n",
};
