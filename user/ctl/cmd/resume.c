// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "agent/owner-text.h"
#include "ctl/command/ctl.h"
#include "ctl/command/hold-request.h"
#include "holder/holder.h"
#include "output/table.h"

/* One target, and what is printed of it. */
struct job {
	int64_t pid;
	int64_t status;
	int64_t queues;
	int64_t left;
	int64_t ioctl_ns;
	int64_t held; /* until now */
	const char *error;
	int fd; /* where the answer comes */
	struct hold_reply reply;
};

static const struct out_field fields[] = {
	OUT_FIELD(struct job, pid, NULL, OUT_DEC),
	OUT_FIELD(struct job, status, NULL, OUT_DEC),
	{ .name = "held_before",
	  .kind = OUT_FLAG,
	  .offset = offsetof(struct job, held) },
	OUT_FIELD(struct job, queues, NULL, OUT_DEC),
	{ .name = "still_suspended",
	  .kind = OUT_DEC,
	  .offset = offsetof(struct job, left) },
	{ .name = "ioctl_us",
	  .kind = OUT_US,
	  .offset = offsetof(struct job, ioctl_ns) },
	OUT_FIELD(struct job, error, NULL, OUT_TEXT),
};

static const struct out_table table = {
	.name = "targets",
	.fields = fields,
	.n_fields = ARRAY_SIZE(fields),
	.row_size = sizeof(struct job),
};

__attribute__((format(printf, 4, 5))) static void
fail(struct job *job, enum gpreempt_class class, const char *next,
     const char *format, ...)
{
	char text[sizeof(job->reply.text)];
	va_list ap;

	/* What is printed may be the reply's own text. */
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	strcpy(job->reply.text, text);
	job->status = class;
	job->error = job->reply.text;
	ctl_fail_text(class, next, "%s", job->error);
}

static void fail_silent(struct job *job)
{
	fail(job, GPREEMPT_CLASS_FAILED,
	     "its end lets the queues run: gpreempt-ctl status shows its PID, "
	     "then kill -9",
	     "the holder of process %d does not answer", (int)job->pid);
}

/* No holder answers; one without its socket is about to end. */
static void look_for_owner(struct job *job)
{
	char text[HOLD_MAX_TEXT], *next;
	struct hold_owner owner;

	if (hold_read_owner(job->pid, &owner))
		return;
	job->held = 1;
	if (owner.role > HOLD_ROLE_HOLDER) {
		hold_taken_text(&owner, job->pid, text, sizeof(text));
		next = strchr(text, '\n');
		*next = '\0';
		fail(job, GPREEMPT_CLASS_BUSY, next + 1, "%s", text);
	} else if (!hold_wait_for_end(job->pid)) {
		fail_silent(job);
	}
}

static void take_reply(struct job *job)
{
	const struct hold_reply *reply = &job->reply;

	job->held = 1;
	job->queues = reply->queues;
	job->left = reply->left;
	job->ioctl_ns = reply->ioctl_ns;
	if (!reply->left)
		hold_wait_for_end(job->pid);
	if (reply->status != GPREEMPT_CLASS_DONE)
		fail(job, reply->status, "gpreempt-ctl status", "%.*s",
		     (int)strcspn(reply->text, "\n"), reply->text);
}

static void finish(struct job *job)
{
	int ret = job->fd;

	if (job->fd >= 0)
		ret = hold_ask_end(job->fd, &job->reply);
	switch (ret) {
	case 0:
		take_reply(job);
		break;
	case -ENOENT:
		look_for_owner(job);
		break;
	case -ECONNRESET:
		/* It ended when we asked, which is as good. */
		job->held = 1;
		hold_wait_for_end(job->pid);
		break;
	case -ETIMEDOUT:
		fail_silent(job);
		break;
	default:
		fail(job, GPREEMPT_CLASS_FAILED, "gpreempt-ctl status",
		     "asking the holder of process %d failed: %s",
		     (int)job->pid, strerror(-ret));
	}
}

static void print_job(const struct job *job)
{
	if (job->status)
		return;
	if (!job->held)
		printf("process %d is not held: nothing to resume\n",
		       (int)job->pid);
	else if (job->ioctl_ns == GPREEMPT_UNKNOWN)
		printf("resumed %d: its holder has ended\n", (int)job->pid);
	else
		printf("resumed %d: %d queue%s, ioctl %.1f us\n", (int)job->pid,
		       (int)job->queues, job->queues == 1 ? "" : "s",
		       job->ioctl_ns / 1000.0);
	if (job->left)
		printf("%d queue%s of process %d %s still suspended\n",
		       (int)job->left, job->left == 1 ? "" : "s", (int)job->pid,
		       job->left == 1 ? "is" : "are");
}

struct resume_args {
	struct ctl_target_args targets;
	enum out_mode mode;
};

static int print_all(const struct resume_args *args, struct job *jobs,
		     size_t count)
{
	int status = jobs[0].status;
	bool times = false;
	size_t i;

	for (i = 0; i < count; i++) {
		status = ctl_merge_status(status, jobs[i].status);
		times |= jobs[i].ioctl_ns != GPREEMPT_UNKNOWN;
		if (args->mode != OUT_JSON)
			print_job(&jobs[i]);
	}
	if (args->mode == OUT_JSON) {
		struct json_object *object = json_object_new_object();

		json_object_object_add(object, "simulated",
				       out_json_flag(ctl_simulated()));
		json_object_object_add(object, table.name,
				       out_json_rows(&table, jobs, count));
		out_json_print(object);
	} else if (times) {
		ctl_label_times();
	}
	return status;
}

static int resume_list(const struct resume_args *args,
		       const struct gpreempt_targets *list)
{
	struct hold_request request = { .verb = HOLD_RESUME };
	struct job *jobs = calloc(list->count, sizeof(*jobs));
	int status;
	size_t i;

	if (!jobs)
		return ctl_fail_reason(GPREEMPT_SYSTEM, -ENOMEM, 0);
	ctl_hold_request(&request, &args->targets.queues);
	for (i = 0; i < list->count; i++) {
		request.start = list->targets[i].start;
		jobs[i].pid = list->targets[i].pid;
		jobs[i].ioctl_ns = GPREEMPT_UNKNOWN;
		jobs[i].fd = hold_ask_begin(jobs[i].pid, &request);
	}
	for (i = 0; i < list->count; i++)
		finish(&jobs[i]);
	status = print_all(args, jobs, list->count);
	free(jobs);
	return status;
}

static int run_resume(void *data)
{
	const struct resume_args *args = data;
	struct gpreempt_targets *list;
	struct gpreempt *g;
	int ret;

	ret = ctl_need_root(0);
	if (!ret)
		ret = ctl_open(NULL, &g);
	if (ret)
		return ret;
	ret = ctl_need_host(g);
	if (!ret)
		ret = ctl_targets(g, &args->targets, &list);
	gpreempt_free(g);
	if (ret)
		return ret;
	ret = resume_list(args, list);
	gpreempt_targets_free(list);
	return ret;
}

static const struct ctl_option options[] = {
	CTL_QUEUE_OPTIONS(struct resume_args),
	CTL_JSON_OPTION(struct resume_args),
	{ 0 },
};

const struct ctl_command ctl_resume = {
	.name = "resume",
	.run = run_resume,
	CTL_TARGET_ARGS(struct resume_args),
	.min_words = 1,
	.usage = "TARGET",
	.not_recorded =
		"the holder does it; preempt makes the same calls and can be "
		"recorded",
	.summary = "Let the queues of held processes run again.",
	.details =
		"A holder ends when none of its queues is suspended any more. Resuming a\n"
		"process that is not held does nothing and is no error.\n"
		"\n"
		"With several targets the exit status is that of all if it is the same,\n"
		"and 6 if only some were resumed.\n",
	.options = options,
};
