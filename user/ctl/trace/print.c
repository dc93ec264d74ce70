// SPDX-License-Identifier: GPL-2.0-only
/* The table of phases, and what is missing in it. */
#include <inttypes.h>
#include <stdlib.h>

#include "ctl/command/ctl.h"
#include "ctl/trace/trace.h"
#include "shared/macro.h"

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

/* What became of the operations. */
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
	struct gpreempt_stats stats;
	size_t n = 0;

	for (kind = 0; kind < GP_TRACE_KINDS; kind++)
		for (phase = 0; phase < GP_TRACE_PHASES; phase++) {
			gpreempt_stats(samples, collect(r, kind, phase, samples), &stats);
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

struct json_object *trace_json(const struct trace_report *r)
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

/* What the table does not have. */
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
	if (r->packets.dropped)
		ctl_note("%" PRIu64 " packets of the AMD log are more than "
			 "the timeline takes",
			 r->packets.dropped);
	if (r->packets.problems)
		ctl_note("%" PRIu64 " lines of the AMD log could not be read", r->packets.problems);
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
		printf("%straced %.1f s: %" PRId64 " operations on %zu "
		       "process%s, %" PRId64 " on others\n",
		       mode == OUT_PIPE ? "# " : "", r->duration_ns / 1e9, c.whole, r->n_targets,
		       r->n_targets == 1 ? "" : "es", c.others);
		out_rows(mode, &table, rows, n);
		if (mode == OUT_TERMINAL)
			ctl_label_times();
		else if (ctl_simulated())
			puts("# times are of the driver's path on a "
			     "simulated GPU");
	}
	say_missing(r, &c);
}
