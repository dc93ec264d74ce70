// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's log: evictions, failed preemptions, resets, faults, and whose queues they were. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "ctl/klog.h"
#include "lib/see/words.h"
#include "load.h"
#include "snapshot.h"

struct event_row {
	struct klog_event is;
	int64_t owner; /* process that has the doorbell or the PASID in the snapshot */
	int64_t owner_queue;
};

#define EVENT(key, member, title, what, ...) \
	OUT_NAMED(key, struct event_row, member, title, what, __VA_ARGS__)

static const struct out_field event_fields[] = {
	EVENT("event", is.event, "EVENT", OUT_TEXT),
	EVENT("count", is.count, "COUNT", OUT_DEC),
	EVENT("gpu", is.gpu, "GPU", OUT_TEXT, .array = true),
	EVENT("pid", is.pid, "PID", OUT_DEC, .spare = true),
	EVENT("pasid", is.pasid, "PASID", OUT_HEX, .spare = true),
	EVENT("queue", is.queue, "QUEUE", OUT_DEC, .spare = true),
	EVENT("doorbell", is.doorbell, "DOORBELL", OUT_HEX, .spare = true),
	EVENT("owner", owner, "OWNER", OUT_DEC, .spare = true),
	EVENT("owner_queue", owner_queue, "OWNER QID", OUT_DEC, .spare = true),
	EVENT("first", is.first.text, "FIRST", OUT_TEXT, .array = true),
	EVENT("last", is.last.text, "LAST", OUT_TEXT, .array = true),
	EVENT("first_us", is.first.us, NULL, OUT_DEC),
	EVENT("last_us", is.last.us, NULL, OUT_DEC),
	EVENT("line", is.line, NULL, OUT_DEC),
};

static const struct out_table events_table = OUT_TABLE("events", event_fields, struct event_row);

struct gpu_row {
	struct klog_gpu is;
	char advice[256];
};

#define GPU(key, member, title, what, ...) \
	OUT_NAMED(key, struct gpu_row, member, title, what, __VA_ARGS__)

static const struct out_field gpu_fields[] = {
	GPU("gpu", is.gpu, "GPU", OUT_TEXT, .array = true),
	GPU("failed", is.lost, "FAILED", OUT_DEC),
	GPU("no_answer", is.silent, "NO ANSWER", OUT_DEC),
	GPU("resets", is.resets, "RESETS", OUT_DEC),
	GPU("failed_resets", is.bad_resets, NULL, OUT_DEC),
	GPU("page_faults", is.page_faults, "PAGE FAULTS", OUT_DEC),
	GPU("last_failed", is.last_lost.text, NULL, OUT_TEXT, .array = true),
	GPU("last_reset", is.last_reset.text, NULL, OUT_TEXT, .array = true),
	GPU("advice", advice, "ADVICE", OUT_TEXT, .array = true, .wrap = true),
};

static const struct out_table gpus_table = OUT_TABLE("gpus", gpu_fields, struct gpu_row);

struct klog_args {
	struct ctl_words files;
	const char *snapshot;
	struct out_form form;
};

struct reading {
	const struct klog_args *args;
	struct klog log;
	const struct text_guess *guess; /* by the first bytes */
	SHR_ARRAY(struct event_row, events);
	SHR_ARRAY(struct gpu_row, gpus);
};

/* Read a log that is open. 0, or the exit status. */
static int read_opened(struct reading *r, const char *path, int fd)
{
	__cleanup_fd int opened = fd;
	char data[65536];
	ssize_t n;

	while (opened >= 0 && (n = read(opened, data, sizeof(data)))) {
		if (n < 0)
			return text_fail(path, -errno);
		if (!r->log.lines)
			r->guess = text_guess(data, n);
		klog_feed(&r->log, data, n);
	}
	klog_end(&r->log);
	return fd < 0 ? text_fail(path, fd) : 0;
}

/* Find the one queue or process that the line may be about; several are none. */
static void find_owner(struct event_row *row, const struct gp_text_data *d,
		       const struct gp_gpus *gpus)
{
	int64_t owner = GPREEMPT_UNKNOWN, queue = GPREEMPT_UNKNOWN;
	size_t i;

	for (i = 0; row->is.doorbell != GPREEMPT_UNKNOWN && i < d->n_mqds; i++) {
		const struct gp_text_queue *q = &d->queues[d->mqds[i].queue];
		const struct gp_gpu *gpu = gp_gpus_get(gpus, q->gpu_id);

		if (d->mqds[i].regs.doorbell != row->is.doorbell ||
		    (gpu && *gpu->device && *row->is.gpu && strcmp(gpu->device, row->is.gpu)))
			continue;
		if (owner != GPREEMPT_UNKNOWN && owner != q->pid)
			return;
		owner = q->pid;
		queue = q->qid;
	}
	for (i = 0; row->is.doorbell == GPREEMPT_UNKNOWN && i < d->n_processes; i++) {
		if (row->is.pasid == GPREEMPT_UNKNOWN || d->processes[i].pasid != row->is.pasid)
			continue;
		if (owner != GPREEMPT_UNKNOWN && owner != d->processes[i].pid)
			return;
		owner = d->processes[i].pid;
	}
	row->owner = owner;
	row->owner_queue = queue;
}

/* Join with a moment of a directory, or with the only one of it. 0, or the exit status. */
static int join(struct reading *r, const char *dir, const struct text_moment *moment)
{
	const struct gpreempt_options options = { .size = sizeof(options), .from = dir };
	__cleanup_handle struct gpreempt *g = NULL;
	struct gp_gpus gpus = { 0 };
	struct ctl_text text;
	size_t i;
	int ret = moment ? ctl_text_moment(moment, &text) : ctl_text_files(&dir, 1, &text);

	if (ret)
		return ret;
	/* A copy of the driver's files alone does not tell which GPU is which. */
	if (!gpreempt_new(&options, &g))
		gp_gpus_read(g, &gpus, NULL);
	for (i = 0; i < r->events.count; i++)
		if (r->events.items[i].owner == GPREEMPT_UNKNOWN)
			find_owner(&r->events.items[i], text.data, &gpus);
	gp_gpus_free(&gpus);
	ctl_text_free(&text);
	return 0;
}

static void make_rows(struct reading *r)
{
	struct gpu_row *gpu;
	size_t i;

	for (i = 0; i < r->log.events.count; i++)
		*(struct event_row *)shr_must(shr_add(&r->events)) =
			(struct event_row){ r->log.events.items[i], GPREEMPT_UNKNOWN,
					    GPREEMPT_UNKNOWN };
	for (i = 0; i <= r->log.n_gpus; i++) {
		const struct klog_gpu *is = &r->log.gpus[i];

		if (!is->lost && !is->silent && !is->resets && !is->bad_resets && !is->page_faults)
			continue;
		gpu = shr_must(shr_add(&r->gpus));
		gpu->is = *is;
		klog_text(is, gpu->advice, sizeof(gpu->advice));
	}
}

static void print_all(const struct reading *r)
{
	const struct out_form *form = &r->args->form;
	struct json_object *object;

	if (form->mode == OUT_JSON) {
		object = json_object_new_object();
		out_add(object, "gpus", out_json_rows(&gpus_table, r->gpus.items, r->gpus.count));
		out_add(object, "events",
			out_json_rows(&events_table, r->events.items, r->events.count));
		out_add(object, "lines", json_object_new_int64(r->log.lines));
		out_add(object, "driver_lines", json_object_new_int64(r->log.driver_lines));
		out_add(object, "left_out", json_object_new_int64(r->log.left_out));
		out_json_print(object);
		return;
	}
	if (!form->columns && r->gpus.count) {
		out_rows(form->mode, &gpus_table, r->gpus.items, r->gpus.count);
		putchar('\n');
	}
	out_print(form, &events_table, r->events.items, r->events.count);
	if (!r->events.count)
		ctl_note("%" PRId64 " lines of the driver, none of them about queues or resets",
			 r->log.driver_lines);
	if (r->log.left_out)
		ctl_note("%" PRId64 " lines are left out: more than %d different events",
			 r->log.left_out, KLOG_MAX);
}

/*
 * Read the log beside the moments in a directory, once where several lie in one folder, and join
 * with each. 0, or the exit status.
 */
static int read_snapshots(struct reading *r, const char *dir)
{
	struct text_moments m;
	char path[4096];
	size_t i, first;
	int ret;

	text_moments_find(dir, &m);
	ret = m.count ? 0 : text_fail(dir, -EISDIR);
	for (i = 0; i < m.count && !ret; i++) {
		for (first = 0; strcmp(m.items[first].dir, m.items[i].dir);)
			first++;
		if (first < i)
			continue;
		snprintf(path, sizeof(path), "%s/" SNAPSHOT_LOG, m.items[i].dir);
		ret = read_opened(r, path,
				  text_open_in(m.items[i].dir, SNAPSHOT_LOG, TEXT_FILE_MAX));
	}
	make_rows(r);
	for (i = 0; i < m.count && !ret; i++)
		ret = join(r, m.items[i].dir, m.items + i);
	text_moments_free(&m);
	return ret;
}

static int read_log(struct reading *r)
{
	const char *path = r->args->files.n ? r->args->files.word[0] : NULL;
	struct stat st;
	int ret;

	if (path && strcmp(path, "-") && !stat(path, &st) && S_ISDIR(st.st_mode))
		return read_snapshots(r, path);
	ret = path ? read_opened(r, path, text_open(path)) : klog_live(&r->log);
	if (ret < 0)
		ret = text_fail("/dev/kmsg", ret);
	if (!ret)
		make_rows(r);
	return ret;
}

static int run_klog(void *data)
{
	struct reading r = { .args = data };
	int ret = read_log(&r);

	if (!ret && !r.log.driver_lines)
		ret = ctl_fail_text(GPREEMPT_CLASS_FAILED,
				    r.guess ? r.guess->next :
					      "save it with \"journalctl -k\" or dmesg, as root",
				    r.guess ? "%s, not the kernel's log" :
					      "no line of amdgpu or KFD is in this kernel's log",
				    r.guess ? r.guess->what : "");
	if (!ret && r.args->snapshot)
		ret = join(&r, r.args->snapshot, NULL);
	if (!ret)
		print_all(&r);
	if (!ret && r.log.left_out)
		ret = GPREEMPT_CLASS_PARTIAL;
	free(r.events.items);
	free(r.gpus.items);
	klog_free(&r.log);
	return ret;
}

static const struct ctl_option options[] = {
	{ "snapshot", CTL_FILE, offsetof(struct klog_args, snapshot), "DIR",
	  "show whose queues they were, by this snapshot" },
	CTL_TABLE_OPTIONS(struct klog_args),
	{ 0 },
};

const struct ctl_command ctl_klog = {
	.name = "klog",
	.run = run_klog,
	.args_size = sizeof(struct klog_args),
	.words = CTL_FILES,
	.words_at = offsetof(struct klog_args, files),
	.max_words = 1,
	.table = &events_table,
	.usage = "[FILE]",
	.examples = "  gpreempt-lab klog\n"
		    "  gpreempt-lab klog kernel.log --snapshot before   # of journalctl -k\n",
	.options = options,
	.summary = "Show what the kernel's log says about queues and resets.",
	.details =
		"FILE is a copy of the kernel's log, by dmesg, journalctl or syslog, \"-\" for\n"
		"stdin, or a directory of snapshots. Without a FILE, the running kernel's is\n"
		"read. FAILED counts preemptions that failed; lines that only follow from such a\n"
		"failure are events, and not counted again. OWNER and OWNER QID are the process\n"
		"and queue that had the doorbell or the PASID in the snapshot: another process\n"
		"may have had it before or after. A GPU or process that a line does not name is\n"
		"\"-\".\n"
		"Exit status 6: there were too many events, and some are left out. 1: no line of\n"
		"amdgpu or KFD is in it.\n",
};
