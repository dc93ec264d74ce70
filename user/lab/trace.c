// SPDX-License-Identifier: GPL-2.0-only
/* trace: the command, its table of phases, and its timeline. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/program.h"
#include "shared/text.h"
#include "shared/util.h"
#include "amdlog.h"
#include "trace.h"

/*
 * Timeline in Chrome's format, which Perfetto's UI opens: one object with an array of events,
 * times in microseconds of CLOCK_MONOTONIC. Events about a target stand below that process,
 * whichever thread made them, and the events of its AMD log stand there, too.
 */

/* The process of slices that belong to no operation on a target. */
#define OTHERS 0

struct named {
	int64_t pid;
	int64_t tid;
};

struct timeline {
	FILE *file;
	size_t count;
	struct named *named; /* threads that have got their names */
	size_t n_named;
};

static struct json_object *event(const char *phase, const char *name, int64_t pid, int64_t tid)
{
	struct json_object *o = json_object_new_object();

	out_add(o, "ph", json_object_new_string(phase));
	out_add(o, "name", json_object_new_string(name));
	out_add(o, "pid", json_object_new_int64(pid));
	out_add(o, "tid", json_object_new_int64(tid));
	return o;
}

/* Add a time in microseconds with three digits for ns. */
static void add_us(struct json_object *o, const char *key, uint64_t ns)
{
	char text[40];

	snprintf(text, sizeof(text), "%" PRIu64 ".%03u", ns / 1000, (unsigned int)(ns % 1000));
	out_add(o, key, json_object_new_double_s(ns / 1000.0, text));
}

static void put(struct timeline *t, struct json_object *o)
{
	fprintf(t->file, "%s%s", t->count++ ? ",\n" : "",
		json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
}

/* Names of processes and threads. */
static void put_name(struct timeline *t, const char *what, int64_t pid, int64_t tid,
		     const char *name)
{
	struct json_object *o = event("M", what, pid, tid);
	struct json_object *args = json_object_new_object();

	out_add(args, "name", json_object_new_string(name));
	out_add(o, "args", args);
	put(t, o);
}

static int64_t pid_of(const struct trace_report *r, const struct gp_trace_slice *s)
{
	int64_t pid = s->op == GP_TRACE_NO_OP ? OTHERS : r->data->ops[s->op].pid;

	return trace_is_target(r, pid) ? pid : OTHERS;
}

static void put_slice(struct timeline *t, const struct trace_report *r,
		      const struct gp_trace_slice *s)
{
	const struct gp_trace_function *f = gp_trace_functions + s->function;
	struct json_object *o = event("X", f->symbol, pid_of(r, s), s->tid);
	struct json_object *args = json_object_new_object();

	add_us(o, "ts", s->begin_ns);
	add_us(o, "dur", s->end_ns - s->begin_ns);
	out_add(o, "cat", json_object_new_string("driver"));
	out_add(args, "cpu", json_object_new_int64(s->cpu));
	/* Add the operation to the ioctl itself. */
	if (s->op != GP_TRACE_NO_OP && f->needed) {
		const struct gp_trace_op *op = r->data->ops + s->op;
		const char *kind = gp_trace_kinds[op->kind];

		out_add(o, "name", json_object_new_string(kind));
		out_add(args, "function", json_object_new_string(f->symbol));
		out_add(args, "target", json_object_new_int64(op->pid));
		out_add(args, "ret", json_object_new_int64(op->ret));
		out_add(args, "whole", json_object_new_boolean(op->whole));
	}
	out_add(o, "args", args);
	put(t, o);
}

/* A thread below each process that it did something about, once. */
static void put_thread(struct timeline *t, const struct trace_report *r,
		       const struct gp_trace_slice *s)
{
	int64_t pid = pid_of(r, s);
	char *name, label[80];
	struct named *named;
	size_t i;

	for (i = 0; i < t->n_named; i++)
		if (t->named[i].pid == pid && t->named[i].tid == s->tid)
			return;
	named = shr_must(shr_array_add(&t->named, &t->n_named, sizeof(*named)));
	*named = (struct named){ pid, s->tid };
	name = trace_comm(r->kernel, s->tid);
	snprintf(label, sizeof(label), "%s %" PRId64, name ? name : "thread", s->tid);
	put_name(t, "thread_name", pid, s->tid, label);
	free(name);
}

static void put_packet(struct timeline *t, const struct gp_amdlog_packet *p)
{
	struct json_object *o = event("i", p->dispatch ? "dispatch" : "barrier", p->pid, p->pid);
	struct json_object *args = json_object_new_object();
	char address[24];

	add_us(o, "ts", p->us > 0 ? (uint64_t)p->us * 1000 : 0);
	out_add(o, "s", json_object_new_string("t"));
	out_add(o, "cat", json_object_new_string("amdlog"));
	snprintf(address, sizeof(address), "0x%" PRIx64, p->hwq);
	out_add(args, "hwq", json_object_new_string(address));
	out_add(args, "rptr", out_json_number(p->rptr));
	out_add(args, "wptr", out_json_number(p->wptr));
	out_add(args, "line", json_object_new_int64(p->line));
	out_add(o, "args", args);
	put(t, o);
}

static void put_processes(struct timeline *t, const struct trace_report *r)
{
	char label[64];
	size_t i;

	put_name(t, "process_name", OTHERS, 0, "other processes");
	for (i = 0; i < r->n_targets; i++) {
		snprintf(label, sizeof(label), "target %d", r->targets[i].pid);
		put_name(t, "process_name", r->targets[i].pid, 0, label);
	}
	for (i = 0; i < r->packets.count; i++)
		if (!i || r->packets.items[i].pid != r->packets.items[i - 1].pid)
			put_name(t, "thread_name", r->packets.items[i].pid, r->packets.items[i].pid,
				 "packets (AMD log)");
}

int trace_write_timeline(const struct trace_report *r, const char *path)
{
	struct timeline t = { .file = fopen(path, "we") };
	size_t i;
	int ret = 0;

	if (!t.file)
		return -errno;
	fprintf(t.file,
		"{\"displayTimeUnit\":\"ns\",\"otherData\":"
		"{\"clock\":\"CLOCK_MONOTONIC\",\"simulated\":%s},\n"
		"\"traceEvents\":[\n",
		ctl_simulated() ? "true" : "false");
	put_processes(&t, r);
	for (i = 0; i < r->data->n_slices; i++) {
		put_thread(&t, r, r->data->slices + i);
		put_slice(&t, r, r->data->slices + i);
	}
	for (i = 0; i < r->packets.count; i++)
		put_packet(&t, r->packets.items + i);
	fputs("\n]}\n", t.file);
	free(t.named);
	if (ferror(t.file))
		ret = -EIO;
	if (fclose(t.file) && !ret)
		ret = -errno;
	return ret;
}

/* AMD log of a traced command. Its times are microseconds of CLOCK_MONOTONIC, as ours are. */

#define NAME "amd.log"
/* Packets in a timeline, at most: more are of no use. */
#define PACKETS_MAX 1000000

void trace_log_set(const char *dir, uint64_t level)
{
	char text[24], full[PATH_MAX], path[PATH_MAX + 16];

	if (!level || !realpath(dir, full))
		return;
	snprintf(path, sizeof(path), "%s/" NAME, full);
	snprintf(text, sizeof(text), "%" PRIu64, level);
	setenv("AMD_LOG_LEVEL", text, 1);
	setenv("AMD_LOG_LEVEL_FILE", path, 1);
}

static void take_packet(void *data, const struct gp_amdlog_packet *p)
{
	struct trace_packets *packets = data;
	struct gp_amdlog_packet *next;

	if (packets->count == PACKETS_MAX) {
		packets->dropped++;
		return;
	}
	next = shr_must(shr_add(packets));
	*next = *p;
}

static void read_file(const char *path, struct trace_packets *packets)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct gp_amdlog *log;

	packets->files += fd >= 0;
	if (amdlog_read_fd(fd, GPREEMPT_UNKNOWN, take_packet, packets, NULL, &log))
		return;
	packets->problems += gp_amdlog_get(log)->n_problems;
	gp_amdlog_free(log);
}

void trace_log_read(const char *dir, struct trace_packets *packets)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	char path[PATH_MAX];

	/* Some versions of ROCm put a number behind the name. */
	while (d && (entry = readdir(d))) {
		if (strncmp(entry->d_name, NAME, strlen(NAME)))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		read_file(path, packets);
	}
	if (d)
		closedir(d);
}

/* Table of phases, and notes on its gaps. */

/* Members are the keys of JSON. */
struct phase_row {
	const char *operation;
	const char *phase;
	int64_t n;
	int64_t min_us; /* ns; printed in microseconds */
	int64_t p50_us;
	int64_t p90_us;
	int64_t p99_us;
	int64_t max_us;
};

#define FIELD(member, title, what, ...) \
	OUT_FIELD(struct phase_row, member, title, what, __VA_ARGS__)

static const struct out_field fields[] = {
	FIELD(operation, "OPERATION", OUT_TEXT),
	FIELD(phase, "PHASE", OUT_TEXT),
	FIELD(n, "N", OUT_DEC),
	FIELD(min_us, "MIN-US", OUT_US),
	FIELD(p50_us, "P50-US", OUT_US),
	FIELD(p90_us, "P90-US", OUT_US),
	FIELD(p99_us, "P99-US", OUT_US),
	FIELD(max_us, "MAX-US", OUT_US),
};

static const struct out_table table = OUT_TABLE("phases", fields, struct phase_row);

/* Operations by their result. */
struct counts {
	int64_t whole;
	int64_t partial;
	int64_t failed;
	int64_t others; /* about processes that are no targets */
};

bool trace_is_target(const struct trace_report *r, int64_t pid)
{
	size_t i;

	for (i = 0; i < r->n_targets; i++)
		if (r->targets[i].pid == pid)
			return true;
	return false;
}

static struct counts count(const struct trace_report *r)
{
	struct counts counts = { 0 };
	size_t i;

	for (i = 0; i < r->data->n_ops; i++) {
		const struct gp_trace_op *op = r->data->ops + i;

		if (!trace_is_target(r, op->pid))
			counts.others++;
		else if (!op->whole)
			counts.partial++;
		else if (op->ret < 0)
			counts.failed++;
		else
			counts.whole++;
	}
	return counts;
}

/* Times of a phase in all whole operations of a kind that succeeded. */
static size_t collect(const struct trace_report *r, enum gp_trace_kind kind,
		      enum gp_trace_phase phase, uint64_t *samples)
{
	size_t i, n = 0;

	for (i = 0; i < r->data->n_ops; i++) {
		const struct gp_trace_op *op = r->data->ops + i;

		if (op->kind == kind && op->whole && op->ret >= 0 &&
		    op->phase_ns[phase] != GPREEMPT_UNKNOWN && trace_is_target(r, op->pid))
			samples[n++] = op->phase_ns[phase];
	}
	return n;
}

static size_t make_rows(const struct trace_report *r, struct phase_row *rows)
{
	uint64_t *samples = shr_must(calloc(r->data->n_ops + 1, sizeof(*samples)));
	enum gp_trace_phase phase;
	enum gp_trace_kind kind;
	struct shr_stats stats;
	size_t n = 0;

	for (kind = 0; kind < GP_TRACE_KINDS; kind++)
		for (phase = 0; phase < GP_TRACE_PHASES; phase++) {
			shr_stats(samples, collect(r, kind, phase, samples), &stats);
			if (!stats.n)
				continue;
			rows[n++] = (struct phase_row){
				gp_trace_kinds[kind],
				gp_trace_phases[phase],
				stats.n,
				stats.min,
				stats.p50,
				stats.p90,
				stats.p99,
				stats.max,
			};
		}
	free(samples);
	return n;
}

#define MAX_ROWS (GP_TRACE_KINDS * GP_TRACE_PHASES)

static struct json_object *json_functions(const struct trace_kernel *k, bool traced)
{
	struct json_object *array = json_object_new_array();
	const struct gp_trace_function *f = gp_trace_functions;
	size_t i;

	for (i = 0; i < GP_TRACE_FUNCTIONS; i++, f++)
		if (k->traced[i] == traced)
			json_object_array_add(array, out_json_text(f->symbol));
	return array;
}

static struct json_object *json_ops(const struct trace_report *r)
{
	struct json_object *array = json_object_new_array(), *one;
	enum gp_trace_phase phase;
	char key[32];
	size_t i;

	for (i = 0; i < r->data->n_ops; i++) {
		const struct gp_trace_op *op = r->data->ops + i;

		if (!trace_is_target(r, op->pid))
			continue;
		one = json_object_new_object();
		out_add(one, "operation", out_json_text(gp_trace_kinds[op->kind]));
		out_add(one, "pid", out_json_number(op->pid));
		out_add(one, "tid", out_json_number(op->tid));
		out_add(one, "begin_us", out_json_us(op->begin_ns));
		out_add(one, "ret", json_object_new_int64(op->ret));
		out_add(one, "whole", out_json_flag(op->whole));
		for (phase = 0; phase < GP_TRACE_PHASES; phase++) {
			snprintf(key, sizeof(key), "%s_us", gp_trace_phases[phase]);
			out_add(one, key, out_json_us(op->phase_ns[phase]));
		}
		json_object_array_add(array, one);
	}
	return array;
}

static struct json_object *json_targets(const struct trace_report *r)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < r->n_targets; i++)
		json_object_array_add(array, out_json_number(r->targets[i].pid));
	return array;
}

static struct json_object *trace_json(const struct trace_report *r)
{
	struct json_object *o = json_object_new_object();
	struct counts c = count(r);
	struct phase_row rows[MAX_ROWS];
	size_t n = make_rows(r, rows);
	const struct {
		const char *key;
		int64_t value;
	} numbers[] = {
		{ "operations", c.whole },
		{ "partial", c.partial },
		{ "failed", c.failed },
		{ "others", c.others },
		{ "events", r->data->events },
		{ "lost", r->data->lost },
		{ "unpaired", r->data->unpaired },
		{ "amd_log_files", r->packets.files },
		{ "amd_log_packets", r->packets.count },
		{ "amd_log_problems", r->packets.problems },
	};
	size_t i;

	out_add(o, "simulated", out_json_flag(ctl_simulated()));
	out_add(o, "duration_us", out_json_us(r->duration_ns));
	out_add(o, "targets", json_targets(r));
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		out_add(o, numbers[i].key, out_json_number(numbers[i].value));
	out_add(o, "functions", json_functions(r->kernel, true));
	out_add(o, "missing", json_functions(r->kernel, false));
	out_add(o, "phases", out_json_rows(&table, rows, n));
	out_add(o, "list", json_ops(r));
	return o;
}

/* Print a note on each gap of the table. */
static void say_missing(const struct trace_report *r, const struct counts *c)
{
	if (r->data->lost)
		ctl_note("%" PRIu64 " events were lost, and what they belong "
			 "to is left out",
			 r->data->lost);
	if (c->partial)
		ctl_note("%" PRId64 " operations are in the trace only in part, and left "
			 "out",
			 c->partial);
	if (c->failed)
		ctl_note("%" PRId64 " operations failed, and are left out", c->failed);
	if (r->kernel->full)
		ctl_note("the directory of temporary files is full: the end "
			 "of the trace is not there");
	if (r->packets.files && !r->packets.count)
		ctl_note("no packet is in the AMD log: " GP_AMDLOG_PACKETS_FROM);
	if (r->packets.dropped)
		ctl_note("%" PRIu64 " packets of the AMD log are more than "
			 "the timeline takes",
			 r->packets.dropped);
	if (r->packets.problems)
		ctl_note("%" PRIu64 " lines of the AMD log could not be read", r->packets.problems);
}

static void print_sum(const char *before, const struct trace_report *r, const struct counts *c)
{
	printf("%straced %.1f s: %" PRId64 " operations on %zu process%s, %" PRId64 " on others\n",
	       before, r->duration_ns / 1e9, c->whole, r->n_targets, r->n_targets == 1 ? "" : "es",
	       c->others);
}

void trace_print(enum out_mode mode, const struct trace_report *r)
{
	struct phase_row rows[MAX_ROWS];
	struct counts c = count(r);
	size_t n;

	if (mode == OUT_JSON) {
		out_json_print(trace_json(r));
	} else {
		n = make_rows(r, rows);
		if (mode == OUT_TERMINAL)
			print_sum("", r, &c);
		out_rows(mode, &table, rows, n);
		/* In a pipe the first line has the headings. */
		if (mode == OUT_PIPE)
			print_sum("# ", r, &c);
		if (mode == OUT_TERMINAL)
			ctl_label_times();
		else if (ctl_simulated())
			puts("# times are of the driver's path on a simulated GPU");
	}
	say_missing(r, &c);
}

/* The command: trace processes for a while, or a command until it ends. */

/* Time between two looks, which empty the kernel's buffer and find new processes. */
#define TICK_MS 50

struct trace_args {
	struct ctl_target_args targets;
	char **command;	      /* NULL: none */
	uint64_t duration_ns; /* 0: until Ctrl-C */
	const char *output;   /* file or directory; NULL: none */
	uint64_t amd_log;     /* AMD_LOG_LEVEL; 0: as it is */
	enum out_mode mode;
};

struct tracing {
	const struct trace_args *args;
	struct gpreempt *g;
	struct trace_kernel kernel;
	struct trace_report report;
	int signals; /* readable after Ctrl-C and its like */
	bool stopped;
	pid_t child; /* the command; 0: none */
	bool ended;
	int status;
};

static void add_target(struct trace_report *r, const struct gpreempt_target *target)
{
	struct gpreempt_target *next =
		shr_must(shr_array_add(&r->targets, &r->n_targets, sizeof(*next)));

	*next = *target;
}

static bool has_queues(struct tracing *t, pid_t pid)
{
	struct gpreempt_view *view;
	bool any;

	if (gpreempt_view_read(t->g, pid, &view, NULL))
		return false;
	any = view->count;
	gpreempt_list_free(view);
	return any;
}

/* The command's GPU processes. Who only holds others has no queue. */
static void find_targets(struct tracing *t)
{
	struct gpreempt_targets *all;
	size_t i;

	if (gpreempt_processes(t->g, &all, NULL))
		return;
	for (i = 0; i < all->count; i++) {
		pid_t pid = all->targets[i].pid;

		if (!trace_is_target(&t->report, pid) && shr_is_below(pid, t->child) &&
		    has_queues(t, pid))
			add_target(&t->report, all->targets + i);
	}
	gpreempt_list_free(all);
}

static bool any_alive(const struct tracing *t)
{
	const struct trace_report *r = &t->report;
	uint64_t start;
	size_t i;

	for (i = 0; i < r->n_targets; i++)
		if (!gpreempt_start_time(t->g, r->targets[i].pid, &start) &&
		    start == r->targets[i].start)
			return true;
	return false;
}

/* The terminal sends Ctrl-C to the command itself; it ends, and so do we. */
static void take_signal(struct tracing *t)
{
	struct signalfd_siginfo info;

	if (read(t->signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (!t->child)
		t->stopped = true;
	else if (info.ssi_signo != SIGINT)
		kill(t->child, info.ssi_signo);
}

static void become_command(const struct tracing *t)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* stdout is for the JSON. */
	if (t->args->mode == OUT_JSON)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	trace_log_set(t->args->output, t->args->amd_log);
	_exit(ctl_exec(t->args->command, -1));
}

/* Is there a reason to go on? */
static bool look(struct tracing *t)
{
	if (!t->child) {
		if (any_alive(t))
			return true;
		ctl_note("the traced processes have ended");
		return false;
	}
	if (waitpid(t->child, &t->status, WNOHANG) == t->child) {
		t->ended = true;
		return false;
	}
	find_targets(t);
	return true;
}

/* Collect until the time is over, all processes have ended, or a signal comes. */
static void drain(struct tracing *t)
{
	struct pollfd fd = { .fd = t->signals, .events = POLLIN };
	uint64_t began = shr_now_ns(), limit = t->args->duration_ns;

	while (!t->stopped && look(t)) {
		if (!t->child && limit && shr_now_ns() - began >= limit)
			break;
		if (poll(&fd, 1, TICK_MS) > 0)
			take_signal(t);
		trace_spool_drain(&t->kernel);
	}
}

static int start_command(struct tracing *t)
{
	fflush(stdout);
	t->child = fork();
	if (t->child < 0)
		return ctl_fail_reason(GPREEMPT_SYSTEM, -errno, 0);
	if (!t->child)
		become_command(t);
	return 0;
}

/* Files for -o. */

static int write_report(const struct trace_report *r, const char *path)
{
	struct json_object *json = trace_json(r);
	int ret = json_object_to_file_ext(path, json, JSON_C_TO_STRING_PRETTY);

	json_object_put(json);
	return ret ? -EIO : 0;
}

static int say(int ret, const char *path)
{
	if (!ret)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_FAILED, "give a place that can be written, with -o",
			     "cannot write %s: %s", path, strerror(-ret));
}

static int write_file(const struct trace_report *r, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s", name,
		 shr_ends_with(name, strlen(name), ".json") ? "" : ".json");
	return say(trace_write_timeline(r, path), path);
}

/* Write all files of a command. */
static int write_dir(const struct trace_report *r, const char *dir)
{
	char path[PATH_MAX];
	int ret;

	snprintf(path, sizeof(path), "%s/trace", dir);
	ret = write_file(r, path);
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "%s/report.json", dir);
	return say(write_report(r, path), path);
}

static int write_output(struct tracing *t)
{
	struct trace_report *r = &t->report;
	const char *output = t->args->output;

	if (!output)
		return 0;
	if (!t->args->command)
		return write_file(r, output);
	if (t->args->amd_log)
		trace_log_read(output, &r->packets);
	return write_dir(r, output);
}

static int finish(struct tracing *t)
{
	struct gp_trace *trace = gp_trace_new();
	int ret = trace_read(&t->kernel, trace);

	if (ret) {
		ret = ctl_fail_text(GPREEMPT_CLASS_FAILED, NULL,
				    "cannot read the kernel's trace: %s", strerror(-ret));
	} else {
		t->report.data = gp_trace_get(trace);
		ret = write_output(t);
		trace_print(t->args->mode, &t->report);
	}
	gp_trace_free(trace);
	return ret;
}

static int trace(struct tracing *t)
{
	uint64_t began;
	int ret;

	t->signals = shr_signals_open_stop();
	ret = trace_kernel_begin(t->g, &t->kernel);
	if (ret)
		return ret;
	began = shr_now_ns();
	if (t->args->command)
		ret = start_command(t);
	if (!ret) {
		drain(t);
		t->report.duration_ns = shr_now_ns() - began;
		trace_kernel_stop(&t->kernel);
		ret = finish(t);
	}
	trace_kernel_end(&t->kernel);
	return ret || !t->ended ? ret : ctl_program_status(t->status);
}

static int check_usage(const struct trace_args *args)
{
	const char *why = NULL;

	if (!args->targets.words.n && !args->command)
		why = "a target is needed, or a command behind \"--\"";
	else if (args->amd_log && (!args->command || !args->output))
		why = "--amd-log is for a command, and needs -o DIR";
	if (!why)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-lab trace --help", "%s", why);
}

static int choose(struct tracing *t)
{
	struct gpreempt_targets *list;
	size_t i;
	int ret;

	if (t->args->targets.words.n) {
		ret = ctl_targets(t->g, &t->args->targets, &list);
		if (ret)
			return ret;
		for (i = 0; i < list->count; i++)
			add_target(&t->report, list->targets + i);
		gpreempt_list_free(list);
	}
	if (!t->args->command || !t->args->output || !mkdir(t->args->output, 0755))
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_FAILED, "name a new directory with -o",
			     "cannot make the directory %s: %s", t->args->output, strerror(errno));
}

static int run_trace(void *data)
{
	const struct trace_args *args = data;
	struct tracing t = { .args = args, .signals = -1 };
	int ret = check_usage(args);

	t.report.kernel = &t.kernel;
	if (!ret)
		ret = ctl_need_root("trace the kernel");
	if (!ret)
		ret = ctl_open(NULL, &t.g);
	if (ret)
		return ret;
	ret = choose(&t);
	if (!ret)
		ret = trace(&t);
	if (t.signals >= 0)
		close(t.signals);
	free(t.report.targets);
	free(t.report.packets.items);
	gpreempt_free(t.g);
	return ret;
}

static const struct ctl_option options[] = {
	{ "for", CTL_DURATION, offsetof(struct trace_args, duration_ns), "TIME",
	  "for that long (10s); 0s: until Ctrl-C" },
	{ "output", CTL_FILE, offsetof(struct trace_args, output), "FILE",
	  "where it is kept (-o FILE); of a command: a directory" },
	{ "amd-log", CTL_COUNT, offsetof(struct trace_args, amd_log), "LEVEL",
	  "of the command: AMD_LOG_LEVEL; 5 has packets" },
	CTL_WAIT_OPTION(struct trace_args),
	CTL_JSON_OPTION(struct trace_args),
	{ 0 },
};

const struct ctl_command ctl_trace = {
	.name = "trace",
	.run = run_trace,
	CTL_TARGET_ARGS(struct trace_args),
	.usage = "[TARGET]",
	.command = "COMMAND...",
	.command_at = offsetof(struct trace_args, command),
	.summary = "Show where the time of suspends goes in the driver.",
	.details =
		"Measures the phases of each suspend and resume of the targets' queues, by any\n"
		"process: lock, until the driver has the process's lock; unmap, sending the\n"
		"packet that takes queues off; fence, until the hardware has done so; map,\n"
		"sending the new runlist; copy, the headers of saved contexts; other; and\n"
		"total, their sum. attach and detach begin and end a debug session.\n"
		"trace suspends nothing itself. FILE.json opens in Perfetto's UI. With a command,\n"
		"trace ends with it; the GPU processes that it starts are targets too, and the\n"
		"exit status is the command's.\n"
		"trace makes a tracing instance and events gpreempt_PID_* in the kernel and\n"
		"removes them at its end; the next trace removes those of a killed one. It\n"
		"needs root.\n",
	.examples = "  gpreempt-lab trace comm:train --for 10 -o suspends\n",
	.options = options,
	.defaults =
		&(const struct trace_args){
			.duration_ns = 10 * NSEC_PER_SEC,
		},
};
