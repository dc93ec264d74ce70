// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "hold/client.h"
#include "hold/escape.h"
#include "hold/holder.h"
#include "hold/owner.h"
#include "hold/pause-owner.h"
#include "hold/run-dir.h"
#include "lib/see/words.h"
#include "shared/text.h"
#include "shared/util.h"
#include "klog.h"

/* Wait for the first descriptor, the stop, or for an end of one of the rest. */
static bool wait_for_change(struct pollfd *fds, size_t count)
{
	size_t i;

	if (poll(fds, count + 1, -1) < 0)
		return errno == EINTR;
	for (i = 1; i <= count; i++) {
		if (fds[i].fd < 0 || !fds[i].revents)
			continue;
		close(fds[i].fd);
		fds[i].fd = -1;
	}
	return !fds[0].revents;
}

/*
 * Stay until a signal asks for the end, or until no holder is left. The holders end with this
 * process at the latest.
 */
static void suspend_stay(int signals, struct hold_job *jobs, size_t count)
{
	struct pollfd *fds = shr_must(calloc(count + 1, sizeof(*fds)));
	size_t i, left;

	fds[0] = (struct pollfd){ .fd = signals, .events = POLLIN };
	for (i = 0; i < count; i++)
		fds[i + 1] = (struct pollfd){ .fd = jobs[i].fd, .events = POLLIN };
	do {
		left = 0;
		for (i = 0; i < count; i++)
			left += fds[i + 1].fd >= 0;
	} while (left && wait_for_change(fds, count));
	/* Close the sockets: the holders that are left see that. */
	for (i = 0; i <= count; i++)
		if (fds[i].fd >= 0)
			close(fds[i].fd);
	for (i = 0; i < count; i++)
		jobs[i].fd = -1;
	free(fds);
}

#define NO_GRACE UINT64_MAX

static bool is_held(const struct hold_job *job)
{
	const struct hold_reply *reply = &job->reply;

	return reply->worker &&
	       (reply->status == GPREEMPT_CLASS_DONE || reply->status == GPREEMPT_CLASS_PARTIAL);
}

static int64_t or_unknown(uint64_t value)
{
	return value ? (int64_t)value : GPREEMPT_UNKNOWN;
}

/* Count a suspend as done only if the registers show it, not because the driver returned 0. */
static void judge(struct hold_job *job)
{
	struct hold_reply *reply = &job->reply;

	if (!reply->worker || reply->status != GPREEMPT_CLASS_DONE ||
	    reply->verdict != GPREEMPT_CONTRADICTED)
		return;
	reply->status = GPREEMPT_CLASS_PARTIAL;
	snprintf(reply->text, sizeof(reply->text), "process %d is held, and %s", job->pid,
		 reply->verified_by == GPREEMPT_BY_WAVES ?
			 "a queue of it is in no slot and still has waves in flight" :
			 "the hardware has not released all of its queues");
	snprintf(reply->next, sizeof(reply->next), "look for stuck queues: gpreempt-ctl queues %d",
		 job->pid);
}

/* Returns the reason why a session was not possible, if the target is paused; or NULL. */
static const char *why_paused(const struct hold_job *job)
{
	return !job->reply.status && job->reply.text[0] ? job->reply.text : NULL;
}

static struct json_object *json_job(const struct hold_job *job)
{
	const struct hold_reply *reply = &job->reply;
	struct json_object *o = json_object_new_object();
	bool held = is_held(job);

	out_add(o, "pid", out_json_number(job->pid));
	out_add(o, "status", out_json_number(reply->status));
	out_add(o, "queues", out_json_number(reply->queues));
	out_add(o, "destroying", out_json_number(reply->destroying));
	out_add(o, "ioctl_us", held ? out_json_us(reply->ioctl_ns) : NULL);
	out_add(o, "slots_us", out_json_us(or_unknown(reply->slots_ns)));
	out_add(o, "resolution_us", out_json_us(or_unknown(reply->resolution_ns)));
	out_add(o, "verified", held ? out_json_text(ctl_verdict_name(reply->verdict)) : NULL);
	out_add(o, "verified_by",
		held ? out_json_text(ctl_verified_by_name(reply->verified_by)) : NULL);
	out_add(o, "how", held ? out_json_text(reply->paused ? "pause" : "debug") : NULL);
	out_add(o, "not_debug_because", out_json_text(why_paused(job)));
	out_add(o, "holder", held ? out_json_number(or_unknown(reply->worker)) : NULL);
	out_add(o, "guardian", held ? out_json_number(or_unknown(reply->guardian)) : NULL);
	out_add(o, "lease_left_us", out_json_us(or_unknown(reply->lease_ns)));
	out_add(o, "held_before", out_json_flag(job->held));
	out_add(o, "foreground", out_json_flag(!!reply->command));
	out_add(o, "error", reply->status && *reply->text ? out_json_text(reply->text) : NULL);
	out_add(o, "next", *reply->next ? out_json_text(reply->next) : NULL);
	return o;
}

static void print_holder(const struct hold_job *job)
{
	const struct hold_reply *reply = &job->reply;
	char lease[32] = "until resume";

	if (reply->lease_ns)
		shr_format_duration(reply->lease_ns, lease, sizeof(lease));
	printf("holder %llu, guardian %llu, lease: %s; release with: gpreempt-ctl resume %d\n",
	       (unsigned long long)reply->worker, (unsigned long long)reply->guardian, lease,
	       job->pid);
	if (reply->command)
		printf("it ends with gpreempt-ctl suspend --foreground (%llu)\n",
		       (unsigned long long)reply->command);
}

static void print_held(const struct hold_job *job)
{
	const struct hold_reply *reply = &job->reply;

	printf("%s %d: %llu queue%s, ioctl %.1f us, verified: %s\n",
	       reply->paused ? "paused" : "suspended", job->pid, (unsigned long long)reply->queues,
	       reply->queues == 1 ? "" : "s", reply->ioctl_ns / 1000.0,
	       ctl_verdict_name(reply->verdict));
	if (reply->slots_ns)
		printf("slots %.1f us (resolution %.1f us)\n", reply->slots_ns / 1000.0,
		       reply->resolution_ns / 1000.0);
	else if (!reply->paused)
		puts("slots not measured");
	print_holder(job);
	if (job->held)
		puts("it was held already: what was asked for is added, the lease is new");
}

static void print_job(const struct hold_job *job)
{
	const struct hold_request *request = &job->request;

	if (why_paused(job))
		ctl_note("%s; so it is paused", why_paused(job));
	print_held(job);
	if (job->reply.destroying)
		ctl_note("process %d is destroying %llu more queue%s; such a "
			 "queue cannot be suspended",
			 job->pid, (unsigned long long)job->reply.destroying,
			 job->reply.destroying == 1 ? "" : "s");
	if (!job->reply.queues && !job->reply.status)
		ctl_note("process %d has no%s queues now; new ones will be suspended", job->pid,
			 request->by_priority || request->n_gpus ? " such" : "");
	if (job->reply.churn)
		hold_note_churn(job->pid, job->reply.recent_ns, job->reply.window_ns);
	if (!job->reply.cgroup)
		ctl_note("no cgroup v2 for the holder alone: if this cgroup "
			 "is frozen, the holder ends and the queues run");
}

struct suspend_args {
	struct ctl_target_args targets;
	uint64_t lease_ns; /* 0: none */
	uint64_t grace_ns;
	uint64_t foreground;
	enum gpreempt_how how;
	enum out_mode mode;
};

/* Print all targets by the results in the jobs. 0, or the exit status. */
static int print_all(struct gpreempt *g, const struct suspend_args *args, struct hold_job *jobs,
		     size_t count)
{
	struct json_object *targets = args->mode == OUT_JSON ? json_object_new_array() : NULL;
	int status = jobs[0].reply.status;
	bool any = false;
	size_t i;

	for (i = 0; targets && i < count; i++)
		json_object_array_add(targets, json_job(&jobs[i]));
	if (targets)
		out_json_print_targets(targets);
	for (i = 0; i < count; i++) {
		if (args->mode != OUT_JSON && is_held(&jobs[i])) {
			print_job(&jobs[i]);
			hold_note_evicted(g, jobs[i].pid);
		}
		if (jobs[i].reply.status != GPREEMPT_CLASS_DONE)
			hold_fail(&jobs[i].reply);
		any |= is_held(&jobs[i]);
		status = ctl_merge_status(status, jobs[i].reply.status);
	}
	if (any && args->mode != OUT_JSON)
		ctl_label_times();
	fflush(stdout);
	return status;
}

static void prepare(struct gpreempt *g, const struct suspend_args *args,
		    const struct gpreempt_target *target, struct hold_job *job)
{
	struct hold_request *request = &job->request;
	struct gpreempt_error err;
	uint32_t units = 0;

	job->pid = target->pid;
	request->verb = HOLD_SUSPEND;
	request->how = args->how;
	request->start = target->start;
	request->lease_ns = args->lease_ns;
	request->command = args->foreground ? getpid() : 0;
	gp_hold_put_filter(request, &args->targets.queues);
	if (args->grace_ns != NO_GRACE && gp_grace_units(g, job->pid, args->grace_ns, &units, &err))
		hold_reply_error(&job->reply, &err);
	request->grace = units;
}

/* Warn of a second pause, which no later resume can undo where the driver counts pauses. */
static void note_counting(struct gpreempt *g, const struct hold_job *jobs, size_t count)
{
	bool paused = false;
	size_t i;

	for (i = 0; i < count; i++)
		paused |= is_held(&jobs[i]) && jobs[i].reply.paused;
	if (paused && gp_pause_counts(g) > 0)
		ctl_note("this driver counts pauses: one by another program, such as CRIU's before "
			 "a dump, would keep the process off the GPU until it ends");
}

/* Has the process queues on that GPU? A line that names none may be about any. */
static bool is_used(struct gpreempt *g, const struct gp_gpus *gpus, const char *device, pid_t pid)
{
	__cleanup_list struct gpreempt_view *view = NULL;
	const struct gp_gpu *gpu;
	bool used = !*device;
	size_t i;

	if (used || gpreempt_view_read(g, pid, &view, NULL))
		return used;
	for (i = 0; i < view->count && !used; i++) {
		gpu = gp_gpus_get(gpus, view->queues[i].gpu_id);
		used = gpu && !strcmp(gpu->device, device);
	}
	return used;
}

/*
 * Warn of a GPU on which a preemption failed before, for each process that was not held. The
 * log is read when all have their answers: that takes milliseconds.
 */
static void note_failures(struct gpreempt *g, const struct hold_job *jobs, size_t count)
{
	__cleanup_free struct klog *k = shr_must(calloc(1, sizeof(*k)));
	struct gp_gpus gpus = { 0 };
	char text[256];
	size_t i, j;

	for (j = 0; j < count && !(is_held(&jobs[j]) && !jobs[j].held);)
		j++;
	if (j < count && !klog_live(k))
		gp_gpus_read(g, &gpus, NULL);
	for (i = 0; i <= k->n_gpus; i++) {
		for (j = 0; k->gpus[i].lost && j < count; j++)
			if (is_held(&jobs[j]) && is_used(g, &gpus, k->gpus[i].gpu, jobs[j].pid))
				break;
		if (k->gpus[i].lost && j < count && klog_text(&k->gpus[i], text, sizeof(text)))
			ctl_note("%s", text);
	}
	gp_gpus_free(&gpus);
	klog_free(k);
}

/* The holders that this command has made stay, or end with it. */
static void stay_or_leave(struct gpreempt *g, const struct suspend_args *args, int signals,
			  struct hold_job *jobs, size_t count)
{
	size_t i;

	for (i = 0; i < count && !args->foreground; i++)
		if (jobs[i].fd >= 0)
			hold_confirm(jobs[i].fd);
	note_counting(g, jobs, count);
	note_failures(g, jobs, count);
	if (args->foreground)
		suspend_stay(signals, jobs, count);
}

static int suspend_list(struct gpreempt *g, const struct suspend_args *args,
			const struct gpreempt_targets *list)
{
	struct hold_job *jobs = shr_must(calloc(list->count, sizeof(*jobs)));
	int status, signals;
	size_t i;

	for (i = 0; i < list->count; i++)
		prepare(g, args, &list->targets[i], &jobs[i]);
	hold_suspend(g, jobs, list->count);
	for (i = 0; i < list->count; i++)
		judge(&jobs[i]);
	/* Who reads that a process is held may send a signal at once. */
	signals = args->foreground ? foreground_signals() : -1;
	status = print_all(g, args, jobs, list->count);
	stay_or_leave(g, args, signals, jobs, list->count);
	free(jobs);
	return status;
}

/* Check the method. 0, or the exit status: a pause takes the whole process, and at once. */
static int check_how(const struct suspend_args *args)
{
	int ret = ctl_check_how(args->how, &args->targets.queues);

	if (ret || args->how != GPREEMPT_HOW_PAUSE || args->grace_ns == NO_GRACE)
		return ret;
	return ctl_fail_text(GPREEMPT_CLASS_USAGE, "leave it out",
			     "--grace: not with --how pause; the driver has no "
			     "grace period for it");
}

static int run_suspend(void *data)
{
	const struct suspend_args *args = data;
	__cleanup_list struct gpreempt_targets *list = NULL;
	__cleanup_handle struct gpreempt *g = NULL;
	int ret = check_how(args);

	/* A reader that has read enough does not want the hold undone. */
	signal(SIGPIPE, SIG_IGN);
	if (!ret)
		ret = ctl_open_host("suspend the queues of a process", &g);
	if (!ret)
		ret = foreground_dir();
	if (!ret) {
		pause_repair_all(g);
		ret = ctl_targets(g, &args->targets, &list);
	}
	if (!ret)
		ret = suspend_list(g, args, list);
	return ret;
}

static const struct ctl_option options[] = {
	{ "for", CTL_LEASE, offsetof(struct suspend_args, lease_ns), "TIME",
	  "release it after that time (5s); otherwise at resume" },
	{ "grace", CTL_DURATION, offsetof(struct suspend_args, grace_ns), "TIME",
	  "let waves finish for that long first (50us; 0us: no)" },
	{ "foreground", CTL_FLAG, offsetof(struct suspend_args, foreground), NULL,
	  "stay, and release it at Ctrl-C or when this terminal closes" },
	CTL_HOW_OPTION(struct suspend_args),
	CTL_QUEUE_OPTIONS(struct suspend_args),
	CTL_WAIT_OPTION(struct suspend_args),
	CTL_JSON_OPTION(struct suspend_args),
	{ 0 },
};

const struct ctl_command ctl_suspend = {
	.name = "suspend",
	.run = run_suspend,
	CTL_TARGET_ARGS(struct suspend_args),
	.min_words = 1,
	.usage = "TARGET",
	.summary = "Take the queues of processes off the GPU and hold them.",
	.details =
		"A holder stays behind for each process. The queues run again after\n"
		"\"gpreempt-ctl resume\", when the lease ends, when the process ends, and when\n"
		"the holder ends for any reason. Later queues of a held process are suspended\n"
		"too, unless --queues selects others. Suspending a held process again adds\n"
		"queues and sets a new lease.\n"
		"\n"
		"While a process is held, other debuggers (gdb, strace, rocgdb,\n"
		"rocprofv3 --attach, CRIU, ROCm's own core dump) cannot attach to it; resume\n"
		"ends that.\n"
		"\n"
		"--how pause takes all queues of a process off all its GPUs with the driver's\n"
		"ioctl for checkpoints: no session, no KFD runtime, and others can attach. The\n"
		"holder ends the pause, or its guardian when the holder is killed; when both\n"
		"are, the next command or \"gpreempt-ctl repair\" does. --how auto, the default,\n"
		"uses the debug ioctl. If that is not possible, it pauses the process and prints\n"
		"the reason, except with --queues, --priority, --gpu or --grace.\n"
		"\n"
		"With several targets the exit status is their common one, 6 if only some were\n"
		"suspended, or that of the first failure.\n",
	.examples = "  gpreempt-ctl suspend comm:train\n"
		    "  gpreempt-ctl suspend user:ann --for 30   # they run again after 30 s\n",
	.options = options,
	.defaults = &(const struct suspend_args){ .grace_ns = NO_GRACE },
};
