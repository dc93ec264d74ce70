// SPDX-License-Identifier: GPL-2.0-only
/*
 * A timeline in Chrome's format, which Perfetto's UI opens: one object with an array of events,
 * times in microseconds of CLOCK_MONOTONIC. What is about a target stands below that process,
 * whichever thread did it, and what its AMD log says stands there, too.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/trace/trace.h"
#include "shared/array.h"
#include "shared/macro.h"

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

/* With the digits that it has: ns, told in microseconds. */
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
	/* The ioctl itself: what it was for. */
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
