// SPDX-License-Identifier: GPL-2.0-only
/* ROCm's log: which hardware queues a process used, and how. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/amdlog.h"
#include "shared/macro.h"

#define CHUNK (1 << 20)

#define QUEUE(member, title, what) \
	OUT_FIELD(struct amdlog_row, member, title, what)

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
};

static const struct out_table queues_table = {
	"queues", fields, ARRAY_SIZE(fields), sizeof(struct amdlog_row),
};

#define PROCESS(member, title, what) \
	OUT_FIELD(struct amdlog_process, member, title, what)

static const struct out_field process_fields[] = {
	PROCESS(pid, "PID", OUT_DEC),
	PROCESS(lines, "LINES", OUT_DEC),
	PROCESS(kernels, "KERNELS", OUT_DEC),
	PROCESS(dispatches, "DISPATCHES", OUT_DEC),
	PROCESS(run_us, "RUN US", OUT_DEC),
};

static const struct out_table processes_table = {
	"processes", process_fields, ARRAY_SIZE(process_fields),
	sizeof(struct amdlog_process),
};

/* hsa_amd_queue_priority_t */
static const char *const priorities[] = { "low", "normal", "high" };

static struct amdlog_row make_row(const struct gpreempt_amdlog_queue *q)
{
	return (struct amdlog_row){
		.pid = q->pid,
		.hwq = q->hwq ? (int64_t)q->hwq : GPREEMPT_UNKNOWN,
		.swq = q->swq ? (int64_t)q->swq : GPREEMPT_UNKNOWN,
		.id = q->id,
		.priority = q->priority >= 0 &&
			    q->priority < (int64_t)ARRAY_SIZE(priorities) ?
			priorities[q->priority] : NULL,
		.size = q->size, .created = q->created,
		.acquired = q->acquired, .released = q->released,
		.deleted = q->deleted, .dispatches = q->dispatches,
		.barriers = q->barriers, .first_rptr = q->first_rptr,
		.first_wptr = q->first_wptr, .last_rptr = q->last_rptr,
		.last_wptr = q->last_wptr, .backlog = q->backlog,
		.first_us = q->first_us, .last_us = q->last_us,
		.line = q->line,
	};
}

int amdlog_read(const char *path, int64_t pid, struct gpreempt_amdlog **out)
{
	struct gpreempt_amdlog_options options = {
		.size = sizeof(options), .pid = pid ? pid : GPREEMPT_UNKNOWN,
	};
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) :
		dup(STDIN_FILENO);
	char *chunk = malloc(CHUNK);
	ssize_t len = -1;

	if (!chunk || gpreempt_amdlog_new(&options, out))
		abort();
	while (fd >= 0 && (len = read(fd, chunk, CHUNK)) > 0)
		if (gpreempt_amdlog_feed(*out, chunk, len))
			abort();
	free(chunk);
	if (len < 0) {
		gpreempt_amdlog_free(*out);
		len = ctl_fail_text(GPREEMPT_CLASS_FAILED, NULL, "%s: %s",
				    path, strerror(errno));
	} else if (gpreempt_amdlog_end(*out)) {
		abort();
	}
	if (fd >= 0)
		close(fd);
	return len;
}

static struct amdlog_row *make_rows(const struct gpreempt_amdlog_data *d)
{
	struct amdlog_row *rows = calloc(d->n_queues + 1, sizeof(*rows));
	size_t i;

	if (!rows)
		abort();
	for (i = 0; i < d->n_queues; i++)
		rows[i] = make_row(d->queues + i);
	return rows;
}

static struct amdlog_process *
make_processes(const struct gpreempt_amdlog_data *d)
{
	struct amdlog_process *rows = calloc(d->n_processes + 1,
					     sizeof(*rows));
	size_t i;

	if (!rows)
		abort();
	for (i = 0; i < d->n_processes; i++)
		rows[i] = (struct amdlog_process){
			.pid = d->processes[i].pid,
			.lines = d->processes[i].lines,
			.kernels = d->processes[i].kernels,
			.dispatches = d->processes[i].dispatches,
			.run_us = d->processes[i].last_us -
				  d->processes[i].first_us,
		};
	return rows;
}

struct amdlog_problem {
	int64_t line;
	const char *what;
};

static const struct out_field problem_fields[] = {
	OUT_FIELD(struct amdlog_problem, line, "LINE", OUT_DEC),
	OUT_FIELD(struct amdlog_problem, what, "PROBLEM", OUT_TEXT),
};

static const struct out_table problems_table = {
	"problems", problem_fields, ARRAY_SIZE(problem_fields),
	sizeof(struct amdlog_problem),
};

static struct json_object *json_problems(const struct gpreempt_amdlog_data *d)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < d->kept; i++) {
		struct amdlog_problem row = {
			d->problems[i].line, d->problems[i].what,
		};

		json_object_array_add(array, out_json_row(&problems_table,
							  &row));
	}
	return array;
}

struct json_object *amdlog_json(const struct gpreempt_amdlog_data *d)
{
	struct json_object *object = json_object_new_object(), *problems;
	struct amdlog_process *processes = make_processes(d);
	struct amdlog_row *rows = make_rows(d);

	json_object_object_add(object, "queues",
			       out_json_rows(&queues_table, rows,
					     d->n_queues));
	json_object_object_add(object, "processes",
			       out_json_rows(&processes_table, processes,
					     d->n_processes));
	json_object_object_add(object, "level",
			       json_object_new_int64(d->level));
	json_object_object_add(object, "hip_version",
			       out_json_text(*d->version ? d->version : NULL));
	json_object_object_add(object, "lines",
			       json_object_new_int64(d->lines));
	json_object_object_add(object, "other_lines",
			       json_object_new_int64(d->other_lines));
	problems = json_problems(d);
	json_object_object_add(object, "problems", problems);
	json_object_object_add(object, "n_problems",
			       json_object_new_int64(d->n_problems));
	free(rows);
	free(processes);
	return object;
}

static void print_table(enum out_mode mode,
			const struct gpreempt_amdlog_data *d)
{
	struct amdlog_process *processes = make_processes(d);
	struct amdlog_row *rows = make_rows(d);
	size_t i;

	out_rows(mode, &processes_table, processes, d->n_processes);
	putchar('\n');
	out_rows(mode, &queues_table, rows, d->n_queues);
	free(rows);
	free(processes);
	for (i = 0; i < d->kept; i++)
		ctl_note("line %" PRIu64 ": %s", d->problems[i].line,
			 d->problems[i].what);
	if (d->n_problems > d->kept)
		ctl_note("and %" PRIu64 " lines more",
			 d->n_problems - d->kept);
	if (!d->records)
		ctl_note("no line of ROCm's log is in it: "
			 "run the program with AMD_LOG_LEVEL=4");
	else if (d->level < 4)
		ctl_note("packets are logged from AMD_LOG_LEVEL=4 on, "
			 "this is level %u", d->level);
}

static void print_addresses(const struct gpreempt_amdlog_data *d,
			    const char *between)
{
	size_t i, n = 0;

	for (i = 0; i < d->n_queues; i++)
		if (d->queues[i].hwq)
			printf("%s0x%" PRIx64, n++ ? between : "",
			       d->queues[i].hwq);
}

/* For scripts: the same facts as assignments. */
static void print_python(const struct gpreempt_amdlog_data *d)
{
	size_t i;

	printf("# Made by gpreempt-ctl amdlog. None: the log does not say it.\n");
	printf("PID = ");
	if (d->n_processes == 1 && d->processes->pid != GPREEMPT_UNKNOWN)
		printf("%" PRId64 "\n", d->processes->pid);
	else
		printf("None\n");
	printf("HARDWARE_QUEUES = [");
	print_addresses(d, ", ");
	printf("]\nQUEUES = [\n");
	for (i = 0; i < d->n_queues; i++) {
		const struct gpreempt_amdlog_queue *q = d->queues + i;

		printf("    {\"hwq\": 0x%" PRIx64 ", \"swq\": 0x%" PRIx64
		       ", \"dispatches\": %" PRIu64 ", \"acquired\": %" PRIu64,
		       q->hwq, q->swq, q->dispatches, q->acquired);
		if (q->last_wptr != GPREEMPT_UNKNOWN)
			printf(", \"rptr\": %" PRId64 ", \"wptr\": %" PRId64
			       ", \"backlog\": %" PRId64, q->last_rptr,
			       q->last_wptr, q->backlog);
		printf("},\n");
	}
	printf("]\n");
}

static void print_shell(const struct gpreempt_amdlog_data *d)
{
	uint64_t dispatches = 0;
	size_t i;

	printf("# Made by gpreempt-ctl amdlog.\nGPREEMPT_PID=");
	if (d->n_processes == 1 && d->processes->pid != GPREEMPT_UNKNOWN)
		printf("%" PRId64, d->processes->pid);
	printf("\nGPREEMPT_HARDWARE_QUEUES='");
	print_addresses(d, " ");
	for (i = 0; i < d->n_queues; i++)
		dispatches += d->queues[i].dispatches;
	printf("'\nGPREEMPT_DISPATCHES=%" PRIu64 "\n", dispatches);
}

static int print(const struct ctl_args *args,
		 const struct gpreempt_amdlog_data *d)
{
	const char *format = args->format ? args->format : "table";

	if (args->json || !strcmp(format, "json"))
		out_json_print(amdlog_json(d));
	else if (!strcmp(format, "table"))
		print_table(out_mode(args), d);
	else if (!strcmp(format, "python"))
		print_python(d);
	else
		print_shell(d);
	return d->n_problems ? GPREEMPT_CLASS_PARTIAL : 0;
}

static bool has_process(const struct gpreempt_amdlog_data *d)
{
	return d->n_processes || !d->records;
}

static int run_amdlog(const struct ctl_command *cmd, struct ctl_args *args)
{
	static const char *const formats[] = {
		"table", "json", "python", "shell",
	};
	struct gpreempt_amdlog *log;
	size_t i;
	int ret;

	(void)cmd;
	for (i = 0; args->format && i < ARRAY_SIZE(formats); i++)
		if (!strcmp(args->format, formats[i]))
			break;
	if (i == ARRAY_SIZE(formats))
		return ctl_fail_text(GPREEMPT_CLASS_USAGE,
				     "gpreempt-ctl amdlog --help",
				     "--format \"%s\": table, json, python or "
				     "shell", args->format);
	ret = amdlog_read(args->words[0], args->only_pid, &log);
	if (ret)
		return ret;
	if (args->only_pid && !has_process(gpreempt_amdlog_get(log)))
		ret = ctl_fail_text(GPREEMPT_CLASS_NO_TARGET,
				    "the log has a process's own number: "
				    "gpreempt-ctl pidmap shows both",
				    "process %" PRIu64 " is not in this log",
				    args->only_pid);
	else
		ret = print(args, gpreempt_amdlog_get(log));
	gpreempt_amdlog_free(log);
	return ret;
}

static const struct ctl_option options[] = {
	{ "pid", CTL_COUNT, offsetof(struct ctl_args, only_pid), "PID",
	  "only this process, by the number that the log has" },
	{ "format", CTL_NAME, offsetof(struct ctl_args, format), "WORD",
	  "table, json, python or shell" },
	{ 0 },
};

const struct ctl_command ctl_amdlog = {
	.name = "amdlog",
	.run = run_amdlog,
	.words = CTL_FILES,
	.min_words = 1,
	.max_words = 1,
	.usage = "FILE",
	.shared = CTL_SHARED_JSON,
	.options = options,
	.summary = "Show the hardware queues that ROCm's log tells of.",
	.details =
	"FILE is what a HIP program printed with AMD_LOG_LEVEL 3 to 5, \"-\" for stdin;\n"
	"of any length. Level 3 has queues, level 4 packets too.\n"
	"BACKLOG is the most packets that waited in a queue when one was added; rptr\n"
	"and wptr are logged by ROCm 6 and newer. ROCm 5 names a queue by one address\n"
	"when it is created and by another in its packets: they stay two lines.\n"
	"Exit status 6: some lines could not be read.\n",
};
