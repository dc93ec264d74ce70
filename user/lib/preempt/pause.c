// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Pause of a whole process, by CRIU's ioctl.
 *
 * A helper process touches the target: it finds a descriptor of /dev/kfd in the target, takes a
 * copy, traces the target, makes the ioctls, and ends, which stops tracing without a stop of the
 * target. The target is traced only while the ioctls run.
 */
#include <linux/kfd_ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#include "lib/core/apart.h"
#include "lib/see/see.h"
#include "shared/util.h"
#include "pause.h"

/*
 * KFD contexts of one process that are paused at most. Each costs all processes on its
 * GPUs two run lists.
 */
#define GP_PAUSE_CONTEXTS 4
#define PAUSE_KFD	  "/dev/kfd"
/* Open files of /dev/kfd that are tried for one pause, at most. */
#define GP_PAUSE_TRIES 16

enum gp_pause_op {
	GP_PAUSE_LOOK, /* only find the descriptor */
	GP_PAUSE_SET,
	GP_PAUSE_SET_STRICT, /* see judge_strict() */
	GP_PAUSE_UNSET,
};

/* How far the helper came; for the sentence when it does not come back. */
enum gp_pause_place {
	GP_PAUSE_AT_START,
	GP_PAUSE_AT_FILES,
	GP_PAUSE_AT_SEIZE,
	GP_PAUSE_AT_IOCTL,
};

/*
 * Operation on one descriptor of the process, made by a helper process: see lib/core/apart.h.
 * The helper has no other memory than this one.
 */
struct gp_pause_help {
	const struct gp_backend_ops *ops;
	void *be;
	pid_t pid;
	int process; /* descriptor of the process */
	uint64_t device;
	enum gp_pause_op op;
	int number; /* number of the descriptor; -1: take the first one from @from on */
	int from;
	int done[GP_PAUSE_TRIES]; /* numbers tried before: neither these nor their copies */
	unsigned int n_done;

	/* Set by the helper: */
	int found;     /* the number; -1: none */
	bool denied;   /* we were refused a look at the file behind a descriptor */
	int file_code; /* 0, or why it could not be found (-ENXIO) or taken */
	int seize_code;
	int unpause_code;
	int pause_code;
	uint64_t entry_ns, return_ns, ioctl_ns;
};

/* A pause or unpause. */
struct gp_pause_job {
	struct gpreempt *g;
	pid_t pid;
	uint64_t start_time; /* 0: of any */
	bool pause;	     /* or unpause */
	bool strict;	     /* see judge_strict() */
	const char *step;
	int changed[GP_PAUSE_TRIES]; /* descriptors: report->contexts of them */
	int process;		     /* descriptor of it; -1: none */
	struct gp_pause_help *help;  /* NULL: it belongs to an abandoned helper */
	struct gp_pause_ready *ready;
	struct gp_pause_report *report;
	struct gpreempt_error *err;
};

/* A target can move its descriptor from number to number. */
#define LOOKS 3

struct look {
	struct gp_pause_help *h;
	int fd; /* -1: none yet */
	bool seen;
};

static int take(struct gp_pause_help *h, int number)
{
	int fd = h->ops->take_device(h->be, h->pid, h->process, number, h->device);

	if (fd >= 0)
		h->found = number;
	return fd;
}

static bool is_done(const struct gp_pause_help *h, int number)
{
	unsigned int i;

	for (i = 0; i < h->n_done; i++)
		if (h->done[i] == number || h->ops->same_file(h->be, h->pid, h->done[i], number))
			return true;
	return false;
}

/* Look at one descriptor. 1: taken. The kernel's names here are numbers. */
static int look_at(void *arg, const char *name)
{
	struct look *look = arg;
	struct gp_pause_help *h = look->h;
	char path[GP_PID_PATH], file[32];
	int number = atoi(name), ret;
	uint64_t device;

	gp_apart_at(h, GP_PAUSE_AT_FILES);
	if (number < h->from)
		return 0;
	snprintf(file, sizeof(file), "fd/%s", name);
	gp_pid_path(path, "/proc", h->pid, file);
	ret = h->ops->device_of(h->be, path, &device);
	if (ret == -EACCES || ret == -EPERM)
		h->denied = true;
	if (ret || device != h->device || is_done(h, number))
		return 0;
	look->seen = true;
	if (h->op == GP_PAUSE_LOOK) {
		h->found = number;
		return 1;
	}
	ret = take(h, number);
	if (ret == -EBADF || ret == -ENODEV) /* the process has moved or closed it */
		return 0;
	look->fd = ret;
	return ret < 0 ? ret : 1;
}

/* Find the descriptor. 0: @h->found, with *@fd a descriptor of ours unless @h only looks. */
static int find(struct gp_pause_help *h, int *fd)
{
	struct look look = { .h = h, .fd = -1 };
	char path[GP_PID_PATH];
	int i, ret;

	gp_pid_path(path, "/proc", h->pid, "fd");
	for (i = 0; i < LOOKS; i++) {
		look.seen = false;
		ret = h->ops->list_dir(h->be, path, look_at, &look);
		*fd = look.fd;
		if (ret)
			return ret < 0 ? ret : 0;
		if (!look.seen)
			break;
	}
	return h->denied ? -EPERM : -ENXIO;
}

static int ask(struct gp_pause_help *h, int fd, uint32_t op)
{
	struct kfd_ioctl_criu_args args = { .pid = h->pid, .op = op };
	uint64_t entry = shr_now_ns();
	int ret = h->ops->ioctl(h->be, fd, AMDKFD_IOC_CRIU_OP, &args);

	h->return_ns = shr_now_ns();
	h->ioctl_ns += h->return_ns - entry;
	if (!h->entry_ns)
		h->entry_ns = entry;
	return ret;
}

/*
 * Drivers up to 6.1 and amdgpu-dkms count a second pause, and one unpause does not
 * undo both. The driver refuses an unpause unless the process is paused, and while we
 * trace the process no other program can pause it: so the unpause comes first.
 */
static void change(struct gp_pause_help *h, int fd)
{
	bool set = h->op != GP_PAUSE_UNSET;

	if (!gp_apart_enter(h))
		return;
	if (h->op != GP_PAUSE_SET_STRICT)
		h->unpause_code = ask(h, fd, KFD_CRIU_OP_UNPAUSE);
	if (h->unpause_code && h->unpause_code != -EINVAL)
		set = false;
	if (set && gp_apart_is_wanted(h))
		h->pause_code = ask(h, fd, KFD_CRIU_OP_PROCESS_INFO);
	/* The caller waits no more: not left paused. */
	if (!gp_apart_leave(h) && set)
		ask(h, fd, KFD_CRIU_OP_UNPAUSE);
}

static void help(void *arg)
{
	struct gp_pause_help *h = arg;
	int fd = -1;

	gp_apart_at(h, GP_PAUSE_AT_FILES);
	if (h->number < 0) {
		h->file_code = find(h, &fd);
	} else {
		fd = take(h, h->number);
		h->file_code = fd < 0 ? fd : 0;
	}
	if (fd < 0)
		return;
	gp_apart_at(h, GP_PAUSE_AT_SEIZE);
	h->seize_code = h->ops->ptrace(h->be, PTRACE_SEIZE, h->pid, 0);
	gp_apart_at(h, GP_PAUSE_AT_IOCTL);
	if (!h->seize_code)
		change(h, fd);
}

void gp_pause_ready(struct gpreempt *g, struct gp_pause_ready *ready)
{
	struct gp_pause_help *h;

	if (ready->help || g->saved)
		return;
	h = gp_apart_new();
	if (!h)
		return;
	if (g->ops->device_of(g->be, PAUSE_KFD, &h->device)) {
		gp_apart_free(h);
		return;
	}
	gp_apart_ready(h, ready->process, help);
	ready->help = h;
}

void gp_pause_not_ready(struct gp_pause_ready *ready)
{
	if (ready->help)
		gp_apart_free(ready->help);
	ready->help = NULL;
}

/* Fill in *@job->err. Returns @code. */
static int fail_pause(struct gp_pause_job *job, int code, enum gpreempt_reason reason)
{
	return gp_error(job->err, code, reason, job->pid, job->step);
}

/* Fill in *@job->err for a failed ioctl. Returns @code. */
static int fail_op(struct gp_pause_job *job, int code)
{
	switch (code) {
	case -EACCES:
		return fail_pause(job, code, GPREEMPT_PAUSE_DENIED);
	case -ENOTTY:
		return fail_pause(job, code, GPREEMPT_NO_PAUSE);
	case -ENODEV:
		return fail_pause(job, code, GPREEMPT_NOT_GPU);
	default:
		return fail_pause(job, code, GPREEMPT_PAUSE_FAILED);
	}
}

static int fail_stuck(struct gp_pause_job *job, int place)
{
	static const char *const steps[] = {
		[GP_PAUSE_AT_START] = "the system is too busy",
		[GP_PAUSE_AT_FILES] = "one of its files does not answer",
		[GP_PAUSE_AT_SEIZE] = "it is executing a program",
		[GP_PAUSE_AT_IOCTL] = "it holds a lock of the driver, or its GPU hangs",
	};

	job->help = NULL;
	job->step = steps[place];
	return fail_pause(job, -ETIMEDOUT, GPREEMPT_STUCK);
}

/*
 * Have a helper do the operation in @job->help. 0: the helper's members of it are filled in.
 * Otherwise *@job->err is filled in.
 */
static int have_helped(struct gp_pause_job *job)
{
	struct gp_pause_help *h = job->help;
	struct gpreempt *g = job->g;
	int place, ret;

	h->found = -1;
	/* The files of a snapshot never make us wait. */
	if (g->saved) {
		help(h);
		return 0;
	}
	ret = gp_apart_run(g, h, h->process, help, GP_APART_IOCTL_NS, &place);
	if (ret == -ETIMEDOUT)
		return fail_stuck(job, place);
	if (ret == -EBUSY) {
		job->step = "too many helpers wait for other processes";
		return fail_pause(job, ret, GPREEMPT_STUCK);
	}
	return ret ? fail_pause(job, ret, GPREEMPT_SYSTEM) : 0;
}

/* The process has no descriptor that is its own. It may be no GPU process at all. */
static int fail_closed(struct gp_pause_job *job)
{
	int ret = gp_target_exists(job->g, job->pid, job->step, job->err);

	return ret ? ret : fail_pause(job, -ENXIO, GPREEMPT_KFD_CLOSED);
}

static int fail_file(struct gp_pause_job *job, int code)
{
	switch (code) {
	case -ENOENT: /* the list of its descriptors */
	case -ESRCH:
		return fail_pause(job, -ESRCH, GPREEMPT_ENDED);
	case -ENXIO:
		return fail_closed(job);
	case -EACCES:
	case -EPERM:
		return fail_pause(job, -EPERM, GPREEMPT_TRACE_DENIED);
	default:
		return fail_pause(job, code, GPREEMPT_SYSTEM);
	}
}

static int fail_seize(struct gp_pause_job *job, int code)
{
	int ret;

	if (code == -ESRCH)
		return fail_pause(job, code, GPREEMPT_ENDED);
	if (code != -EPERM)
		return fail_pause(job, code, GPREEMPT_SYSTEM);
	ret = gp_check_traceable(job->g, job->pid, job->step, job->err);
	return ret ? ret : fail_pause(job, code, GPREEMPT_TRACE_DENIED);
}

static void note_times(struct gp_pause_job *job)
{
	const struct gp_pause_help *h = job->help;
	struct gp_pause_report *report = job->report;

	if (!h->entry_ns)
		return;
	if (!report->entry_ns)
		report->entry_ns = h->entry_ns;
	report->return_ns = h->return_ns;
	report->ioctl_ns += h->ioctl_ns;
}

/*
 * Drivers whose unpause crashes the host. restore_process_queues_cpsch() reads the
 * address space that the process has on each of its GPUs, and drivers before the debug
 * trap do not check that there is one; restore_process_queues_nocpsch() never does. A
 * process has none from opening /dev/kfd until its runtime has started, or for ever.
 *
 * So there gpreempt.ko must show that it has all, before and after, and that the driver has
 * paused this process: what it opened before it executed its program is of another one in the
 * driver, and a pause of that is not seen. That one is left as it is; without queues it does no
 * harm. Nor is unpaused what the view does not show as paused. The first descriptor that the
 * driver takes is enough, as these drivers know no further contexts.
 */

#define SCHED_POLICY "/sys/module/amdgpu/parameters/sched_policy"
#define GFX9	     90000 /* gfx_target_version */

enum {
	KIND_UNKNOWN,
	KIND_PLAIN,
	KIND_STRICT,
};

/*
 * 1, which ends the search, when this node is a GPU of a driver without debug trap, or
 * one that the driver runs without the hardware scheduler whatever its parameter says:
 * device_queue_manager_init() does so for Hawaii and Tonga, which are before gfx 9.
 */
static int is_strict_gpu(void *arg, const char *node)
{
	struct gpreempt *g = arg;
	uint64_t gpu_id, capability, version;

	if (gp_node_gpu_id(g, node, &gpu_id) || !gpu_id)
		return 0;
	if (!gp_node_property(g, node, "gfx_target_version", &version) && version < GFX9)
		return 1;
	if (gp_node_property(g, node, "capability", &capability))
		return 0;
	return !(capability & GP_CAP_TRAP_DEBUG);
}

static int find_kind(struct gpreempt *g)
{
	char policy[8] = "";

	gp_read_small(g, policy, sizeof(policy), SCHED_POLICY);
	if (*policy == '2' || g->ops->list_dir(g->be, GP_TOPOLOGY, is_strict_gpu, g) > 0)
		return KIND_STRICT;
	return KIND_PLAIN;
}

/*
 * Does an unpause by this driver crash where the process has no address
 * space on a GPU? Then so much more is to be checked.
 */
static bool gp_pause_is_strict(struct gpreempt *g)
{
	if (g->pause_kind == KIND_UNKNOWN)
		g->pause_kind = find_kind(g);
	return g->pause_kind == KIND_STRICT;
}

/* Longest time for which the process may keep the driver busy, and the module from looking. */
#define BUSY_NS	      (500 * NSEC_PER_MSEC)
#define BUSY_RETRY_NS (2 * NSEC_PER_MSEC)

/*
 * Does the driver call it paused, as the module read it just now? -EAGAIN: the driver is busy
 * with the process. -ENODATA: unknown.
 */
static int read_paused(struct gpreempt *g, pid_t pid)
{
	struct gpreempt_process_list *list;
	int ret = -ENODATA;
	size_t i;

	if (gpreempt_processes_read(g, &list, NULL))
		return ret;
	for (i = 0; i < list->count; i++) {
		const struct gpreempt_process *p = &list->processes[i];

		if (p->pid == pid)
			ret = p->age_ms || p->paused == GPREEMPT_UNKNOWN ? -EAGAIN : p->paused;
	}
	gpreempt_list_free(list);
	return ret;
}

/* Is the process paused, and may it be paused at all? */
static int gp_pause_look(struct gpreempt *g, pid_t pid, const char *step, bool *paused,
			 struct gpreempt_error *err)
{
	static const char not_seen[] = "gpreempt.ko does not show whether it is paused";
	uint64_t until = shr_now_ns() + BUSY_NS;
	int ret = gp_check_spaces(g, pid, step, err);

	if (ret)
		return ret;
	while ((ret = read_paused(g, pid)) == -EAGAIN && !g->saved && shr_now_ns() < until)
		shr_sleep_ns(BUSY_RETRY_NS);
	if (ret < 0)
		return gp_error(err, -EOPNOTSUPP, GPREEMPT_PAUSE_UNSAFE, pid, not_seen);
	*paused = ret;
	return 0;
}

/* Judge the result of the helper. -EBADF: the descriptor was of another process. */
static int judge_strict(struct gp_pause_job *job)
{
	int ret = job->pause ? job->help->pause_code : job->help->unpause_code;
	bool paused;

	/* The descriptor is of another process; or the process was not paused. */
	if (ret == -EBADF || (ret == -EINVAL && !job->pause))
		return -EBADF;
	if (ret)
		return fail_op(job, ret);
	job->report->before = job->pause ? GP_PAUSED_NO : GP_PAUSED_YES;
	ret = gp_pause_look(job->g, job->pid, job->step, &paused, job->err);
	if (!ret && paused != job->pause && !job->pause)
		return -EBADF;
	job->report->contexts = 1;
	if (ret || paused == job->pause)
		return ret;
	job->step = "its /dev/kfd is of a program that it ran before";
	return fail_pause(job, -EOPNOTSUPP, GPREEMPT_PAUSE_UNSAFE);
}

/* The method on all drivers. */

/* Judge the ioctls. 0: the driver did it. -EBADF: another process opened the descriptor. */
static int judge(struct gp_pause_job *job)
{
	struct gp_pause_report *report = job->report;
	const struct gp_pause_help *h = job->help;
	int ret = h->unpause_code;

	if (job->strict)
		return judge_strict(job);
	if (ret == -EBADF)
		return ret;
	if (ret && ret != -EINVAL)
		return fail_op(job, ret);
	/* A second descriptor may belong to a context that we have just paused. */
	if (!report->contexts || (!job->pause && !ret))
		report->before = ret ? GP_PAUSED_NO : GP_PAUSED_YES;
	if (h->pause_code)
		return fail_op(job, h->pause_code);
	job->changed[report->contexts++ % GP_PAUSE_TRIES] = h->found;
	return 0;
}

/* Pause or unpause by one descriptor. Returns as judge(); -ENXIO: there is none any more. */
static int change_one(struct gp_pause_job *job)
{
	struct gp_pause_help *h = job->help;
	int ret;

	h->entry_ns = h->return_ns = h->ioctl_ns = 0;
	ret = have_helped(job);
	if (ret)
		return ret;
	note_times(job);
	ret = h->file_code;
	if (h->number >= 0 && (ret == -EBADF || ret == -ENODEV))
		return -ENXIO;
	if (ret)
		return ret == -ENXIO ? ret : fail_file(job, ret);
	if (h->seize_code)
		return fail_seize(job, h->seize_code);
	return judge(job);
}

static _Atomic uint64_t *hint_of(struct gp_pause_job *job)
{
	return &job->g->kfd_hints[job->pid % GP_KFD_HINTS];
}

static int look_at_context(void *arg, const char *name)
{
	*(unsigned int *)arg += !strncmp(name, "context_", strlen("context_"));
	return 0;
}

/* Has the process more contexts than we pause? It makes them on request, from Linux 7.0 on. */
static bool has_too_many_contexts(struct gp_pause_job *job)
{
	unsigned int further = 0;
	char path[GP_PID_PATH];

	gp_pid_path(path, GP_SYSFS_PROC, job->pid, "");
	job->g->ops->list_dir(job->g->be, path, look_at_context, &further);
	return further >= GP_PAUSE_CONTEXTS;
}

/*
 * The first descriptor is the one that the process had when it was paused before, if
 * any. The others are looked for when that context is off the GPU: they are of further
 * contexts, or of the program that the process was before exec().
 */
static int change_all(struct gp_pause_job *job)
{
	struct gp_pause_report *report = job->report;
	struct gp_pause_help *h = job->help;
	int ret, hint;

	do {
		hint = h->number;
		ret = change_one(job);
		if (!job->help) {
			/* The file at that number may not answer the next one either. */
			if (hint >= 0)
				*hint_of(job) = 0;
			return ret;
		}
		if (!ret && report->contexts == 1)
			*hint_of(job) = (uint64_t)job->pid << 32 | (uint32_t)h->found;
		if (h->found >= 0)
			h->done[h->n_done++] = h->found;
		h->from = hint < 0 ? h->found + 1 : 0;
		h->number = -1;
		if (ret == -EBADF)
			report->foreign++;
		else if (ret && (ret != -ENXIO || hint < 0))
			break;
	} while (h->n_done < GP_PAUSE_TRIES && !(job->strict && report->contexts) &&
		 !(job->pause && report->contexts == GP_PAUSE_CONTEXTS));
	if (ret && ret != -ENXIO && ret != -EBADF)
		return ret;
	if (!report->contexts)
		return fail_closed(job);
	if (job->pause && has_too_many_contexts(job))
		return fail_pause(job, -E2BIG, GPREEMPT_SYSTEM);
	return 0;
}

/* The descriptor comes first: then it is of the process with that time. */
static int open_process(struct gp_pause_job *job)
{
	struct gpreempt *g = job->g;
	/* A process that was there before has ended. */
	enum gpreempt_reason gone = job->start_time ? GPREEMPT_ENDED : GPREEMPT_NO_PROCESS;
	uint64_t started;
	int ret;

	ret = g->ops->open_process(g->be, job->pid);
	if (ret == -ESRCH)
		return fail_pause(job, ret, gone);
	if (ret == -EINVAL) /* the number of a thread, or none */
		return gp_target_exists(g, job->pid, job->step, job->err) ?:
			       fail_pause(job, -ESRCH, gone);
	if (ret < 0)
		return fail_pause(job, ret, GPREEMPT_SYSTEM);
	job->process = ret;
	if (!job->start_time)
		return 0;
	ret = gpreempt_start_time(g, job->pid, &started);
	if (ret || started != job->start_time)
		return fail_pause(job, -ESRCH, GPREEMPT_ENDED);
	return 0;
}

/* @job->help and, unless it is only looked at, @job->process: for finish(). */
static int prepare(struct gp_pause_job *job, enum gp_pause_op op)
{
	struct gpreempt *g = job->g;
	struct gp_pause_ready *ready = job->ready;
	struct gp_pause_help *h = ready ? ready->help : gp_apart_new();
	int ret;

	job->help = h;
	job->process = -1;
	if (!h)
		return fail_pause(job, -ENOMEM, GPREEMPT_SYSTEM);
	_Static_assert(sizeof(*h) <= GP_APART_SIZE, "it is shared");
	h->ops = g->ops;
	h->be = g->be;
	h->pid = job->pid;
	h->op = op;
	h->number = -1;
	if (ready) {
		*ready = (struct gp_pause_ready){ .process = ready->process };
		job->ready = NULL;
		h->process = ready->process;
		return 0;
	}
	ret = op == GP_PAUSE_LOOK ? 0 : open_process(job);
	if (ret)
		return ret;
	h->process = job->process;
	ret = g->ops->device_of(g->be, PAUSE_KFD, &h->device);
	return ret ? fail_pause(job, ret, GPREEMPT_NO_KFD) : 0;
}

static void finish(struct gp_pause_job *job)
{
	shr_cleanup_fd(&job->process);
	if (job->help)
		gp_apart_free(job->help);
}

/* Undo a pause of some contexts, so that no process stays half paused. */
static void undo(const struct gp_pause_job *job)
{
	struct gp_pause_job other = *job;
	unsigned int i;
	int ret;

	other.err = NULL;
	ret = prepare(&other, GP_PAUSE_UNSET);
	for (i = 0; !ret && i < job->report->contexts && other.help; i++) {
		other.help->number = job->changed[i];
		have_helped(&other);
	}
	finish(&other);
}

static int change_found(struct gp_pause_job *job)
{
	struct gp_pause_report *report = job->report;
	int ret = change_all(job);

	if (ret && job->pause && !job->strict && report->contexts && report->before == GP_PAUSED_NO)
		undo(job);
	if (!ret)
		report->after = job->pause ? GP_PAUSED_YES : GP_PAUSED_NO;
	return ret;
}

static int look_for_device(struct gp_pause_job *job)
{
	int ret = prepare(job, GP_PAUSE_LOOK);

	if (!ret)
		ret = have_helped(job);
	if (!ret && job->help->file_code)
		ret = fail_file(job, job->help->file_code);
	finish(job);
	return ret;
}

/* May it be paused? On a driver that needs care, sets @paused: is it? */
static int check(struct gpreempt *g, pid_t pid, bool *paused, struct gpreempt_error *err)
{
	static const char step[] = "looking for " PAUSE_KFD " in the process";
	struct gp_pause_job job = { .g = g, .pid = pid, .step = step, .err = err };
	int ret;

	ret = gp_check_host(g, pid, step, err);
	if (!ret)
		ret = gp_target_exists(g, pid, step, err);
	if (!ret)
		ret = gp_check_traceable(g, pid, step, err);
	if (!ret)
		ret = look_for_device(&job);
	if (ret || !gp_pause_is_strict(g))
		return ret;
	return gp_pause_look(g, pid, step, paused, err);
}

/* Check the process before it is traced. @done: its state is the wanted one. */
static int gp_pause_begin_strict(struct gp_pause_job *job, bool *done)
{
	struct gp_pause_report *report = job->report;
	bool paused;
	int ret;

	if (job->pause)
		ret = check(job->g, job->pid, &paused, job->err);
	else
		ret = gp_target_exists(job->g, job->pid, job->step, job->err) ?:
			      gp_pause_look(job->g, job->pid, job->step, &paused, job->err);
	if (ret)
		return ret;
	*done = paused == job->pause;
	if (!*done)
		return 0;
	report->before = report->after = paused ? GP_PAUSED_YES : GP_PAUSED_NO;
	report->contexts = 1;
	return 0;
}

static int do_job(struct gp_pause_job *job)
{
	uint64_t hint = *hint_of(job);
	bool hinted, done = false;
	int ret = 0;

	job->strict = gp_pause_is_strict(job->g);
	hinted = !job->strict && hint >> 32 == (uint32_t)job->pid;
	/* A process that was paused from here has passed the check of the host. */
	if (!hinted)
		ret = gp_check_host(job->g, job->pid, job->step, job->err);
	if (ret)
		return ret;
	ret = prepare(job, !job->pause ? GP_PAUSE_UNSET :
			   job->strict ? GP_PAUSE_SET_STRICT :
					 GP_PAUSE_SET);
	if (!ret && hinted)
		job->help->number = (uint32_t)hint;
	if (!ret && job->strict)
		ret = gp_pause_begin_strict(job, &done);
	if (!ret && !done)
		ret = change_found(job);
	finish(job);
	return ret;
}

static int start(struct gpreempt *g, pid_t pid, uint64_t start_time, bool pause,
		 struct gp_pause_ready *ready, struct gp_pause_report *report,
		 struct gpreempt_error *err)
{
	struct gp_pause_report unused;
	struct gp_pause_job job = {
		.g = g,
		.pid = pid,
		.pause = pause,
		.start_time = start_time,
		.step = pause ? "pause" : "unpause",
		.report = report ? report : &unused,
		.err = err,
	};

	if (ready && ready->help)
		job.ready = ready;
	*job.report = (struct gp_pause_report){
		.before = GP_PAUSED_UNKNOWN,
		.after = GP_PAUSED_UNKNOWN,
	};
	return do_job(&job);
}

int gp_pause(struct gpreempt *g, pid_t pid, uint64_t start_time, struct gp_pause_ready *ready,
	     struct gp_pause_report *report, struct gpreempt_error *err)
{
	return start(g, pid, start_time, true, ready, report, err);
}

int gp_unpause(struct gpreempt *g, pid_t pid, uint64_t start_time, struct gp_pause_report *report,
	       struct gpreempt_error *err)
{
	return start(g, pid, start_time, false, NULL, report, err);
}

int gp_pause_check(struct gpreempt *g, pid_t pid, struct gpreempt_error *err)
{
	bool paused;

	return check(g, pid, &paused, err);
}

int gp_pause_counts(struct gpreempt *g)
{
	return gp_pause_is_strict(g) ? -EOPNOTSUPP : gp_pauses_count(g);
}

void gp_pause_name_left(struct gpreempt *g, pid_t pid, struct gpreempt_error *err)
{
	int n = gp_evictions(g, pid);

	if (n > 0)
		snprintf(err->name, sizeof(err->name), "%d eviction%s left", n,
			 n == 1 ? " is" : "s are");
	else
		snprintf(err->name, sizeof(err->name), "its queues are still evicted");
}

enum gpreempt_verdict gp_pause_verify(struct gpreempt *g, pid_t pid, size_t *queues,
				      enum gpreempt_verified_by *by)
{
	struct gpreempt_view *view;
	struct gp_off off = { 0 };
	size_t i;

	if (gpreempt_view_read(g, pid, &view, NULL))
		return gp_off_verdict(&off, by);
	if (queues)
		*queues = view->count;
	for (i = 0; i < view->count; i++) {
		const struct gpreempt_queue *q = &view->queues[i];

		/* A view that is older than the pause tells nothing about it. */
		if (q->age_ms > 0) {
			off.open = true;
			continue;
		}
		off.on |= q->evicted == 0;
		gp_off_add(&off, view, q, q->evicted == 1);
	}
	gpreempt_list_free(view);
	return gp_off_verdict(&off, by);
}
