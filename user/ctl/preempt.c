// SPDX-License-Identifier: GPL-2.0-only
/* Suspend and resume, again and again, and measure it. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "ctl/ctl.h"
#include "ctl/deadman.h"
#include "ctl/hold.h"
#include "ctl/nudge.h"
#include "shared/clock.h"

struct bench {
	const struct ctl_args *args;
	struct gpreempt *g;
	struct gpreempt_session *session;
	struct deadman deadman;
	int stop;		/* readable after Ctrl-C and its like */
	uint64_t open_ns;
	uint64_t first_ns;	/* the first suspend, which is apart */
	uint64_t *suspend_ns;
	uint64_t *resume_ns;
	size_t n_suspend;
	size_t n_resume;
	size_t cycles;
	size_t succeeded;
	size_t verdicts[3];	/* by enum gpreempt_verdict */
	bool interrupted;
};

static int open_stop(void)
{
	sigset_t set;

	/* A command that is stopped with its target held helps nobody. */
	signal(SIGTSTP, SIG_IGN);
	signal(SIGTTIN, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void tell_busy(void *data, bool busy)
{
	struct bench *b = data;

	deadman_feed(&b->deadman, HOLD_DEADMAN_SPARE_NS +
		     (busy ? HOLD_BUSY_NS : HOLD_SILENCE_NS));
}

static bool stop_asked(struct bench *b)
{
	struct pollfd p = { .fd = b->stop, .events = POLLIN };

	b->interrupted = poll(&p, 1, 0) > 0;
	return b->interrupted;
}

/*
 * Deal with the target for so long. 0, or the reason to stop. In short
 * pieces, so that the dead man's switch is fed.
 */
static int attend(struct bench *b, uint64_t ns)
{
	uint64_t deadline = shr_now_ns() + ns;

	for (;;) {
		uint64_t now = shr_now_ns();
		uint64_t left = now < deadline ? deadline - now : 0;
		int ret;

		tell_busy(b, false);
		ret = gpreempt_session_wait(b->session,
					    left < HOLD_TICK_NS ?
					    left : HOLD_TICK_NS, &b->stop);
		if (ret == -EINTR && !stop_asked(b))
			continue;
		if (ret < 0)
			return ret;
		if (ret & GPREEMPT_EVENT_LOST)
			return -ENOTCONN;
		if (ret & GPREEMPT_EVENT_ENDED)
			return -ESRCH;
		if (shr_now_ns() >= deadline)
			return 0;
	}
}

static void print_cycle(const struct bench *b,
			const struct gpreempt_outcome *suspend,
			const struct gpreempt_outcome *resume,
			enum gpreempt_verdict verdict)
{
	if (!b->args->verbose && !isatty(STDOUT_FILENO))
		return;
	printf("cycle %zu: %zu of %zu queues, suspend %.1f us, "
	       "resume %.1f us, verified: %s\n", b->cycles, suspend->done,
	       suspend->requested, suspend->ioctl_ns / 1000.0,
	       resume->ioctl_ns / 1000.0, ctl_verdict_name(verdict));
	fflush(stdout);
}

static void note_times(struct bench *b, uint64_t suspend_ns,
		       uint64_t resume_ns)
{
	if (b->cycles == 1)
		b->first_ns = suspend_ns;
	else
		b->suspend_ns[b->n_suspend++] = suspend_ns;
	b->resume_ns[b->n_resume++] = resume_ns;
}

static int cycle(struct bench *b)
{
	const struct gpreempt_filter which = {
		.ids = b->args->ids,
		.n_ids = b->args->n_ids,
	};
	struct gpreempt_outcome suspend = { 0 }, resume = { 0 };
	enum gpreempt_verdict verdict;
	int ret;

	b->cycles++;
	ret = gpreempt_session_suspend(b->session, &which, &suspend);
	if (ret)
		return ret;
	verdict = gpreempt_session_verify(b->session);
	ret = attend(b, b->args->hold_ns);
	if (ret)
		return ret;
	ret = gpreempt_session_resume(b->session, &which, &resume);
	if (ret)
		return ret;
	b->verdicts[verdict]++;
	if (suspend.requested)
		note_times(b, suspend.ioctl_ns, resume.ioctl_ns);
	b->succeeded += suspend.requested &&
			suspend.done == suspend.requested &&
			verdict != GPREEMPT_CONTRADICTED;
	print_cycle(b, &suspend, &resume, verdict);
	return attend(b, b->args->interval_ns);
}

static void print_stats(const char *name, uint64_t *samples, size_t n)
{
	struct gpreempt_stats stats;

	gpreempt_stats(samples, n, &stats);
	printf("%s n=%zu min=%.1f p50=%.1f p90=%.1f p99=%.1f max=%.1f\n",
	       name, stats.n, stats.min / 1000.0, stats.p50 / 1000.0,
	       stats.p90 / 1000.0, stats.p99 / 1000.0, stats.max / 1000.0);
}

static void print_result(struct bench *b)
{
	ctl_label_times();
	print_stats("suspend_ioctl_us", b->suspend_ns, b->n_suspend);
	print_stats("resume_ioctl_us", b->resume_ns, b->n_resume);
	printf("first_suspend_us %.1f\n", b->first_ns / 1000.0);
	printf("session_open_us %.1f\n", b->open_ns / 1000.0);
	printf("verified yes %zu no %zu not_checked %zu\n",
	       b->verdicts[GPREEMPT_VERIFIED],
	       b->verdicts[GPREEMPT_CONTRADICTED],
	       b->verdicts[GPREEMPT_NOT_CHECKED]);
	printf("cycles %zu succeeded %zu\n", b->cycles, b->succeeded);
}

/* What is to be measured must be there. 0, or the exit status. */
static int check_queues(const struct bench *b)
{
	const struct gpreempt_session_queue *queues;
	size_t count, i, j;

	queues = gpreempt_session_queues(b->session, &count);
	if (!count)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED,
				     "try again when it uses the GPU",
				     "process %d has no queues", b->args->pid);
	for (i = 0; i < b->args->n_ids; i++) {
		for (j = 0; j < count; j++)
			if (queues[j].qid == b->args->ids[i])
				break;
		if (j == count)
			return ctl_fail_text(GPREEMPT_CLASS_FAILED,
					     "gpreempt-ctl queues shows them",
					     "process %d has no queue %u",
					     b->args->pid, b->args->ids[i]);
	}
	return 0;
}

static int finish(struct bench *b, int ret)
{
	struct gpreempt_error err = *gpreempt_session_error(b->session);

	if (!err.reason)
		err = (struct gpreempt_error){
			.code = ret,
			.reason = GPREEMPT_SYSTEM,
			.pid = b->args->pid,
			.step = "measuring",
		};
	gpreempt_session_close(b->session);
	deadman_stop(&b->deadman);
	print_result(b);
	if (b->interrupted)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, NULL,
				     "interrupted in cycle %zu; "
				     "the queues run", b->cycles);
	if (ret)
		return ctl_fail(&err);
	if (b->succeeded == b->cycles)
		return 0;
	return ctl_fail_text(b->succeeded ? GPREEMPT_CLASS_PARTIAL :
			     GPREEMPT_CLASS_FAILED,
			     "gpreempt-ctl preempt --verbose shows each cycle",
			     "%zu of %zu cycles did not succeed",
			     b->cycles - b->succeeded, b->cycles);
}

static int measure(struct bench *b)
{
	struct gpreempt_error err;
	uint64_t start;
	int ret;

	ret = deadman_start(&b->deadman);
	if (ret)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, b->args->pid);
	tell_busy(b, false);
	start = shr_now_ns();
	if (gpreempt_session_open(b->g, b->args->pid, &b->session, &err)) {
		deadman_stop(&b->deadman);
		return ctl_fail(&err);
	}
	b->open_ns = shr_now_ns() - start;
	ret = check_queues(b);
	if (ret) {
		gpreempt_session_close(b->session);
		deadman_stop(&b->deadman);
		return ret;
	}
	while (!ret && b->cycles < b->args->count)
		ret = cycle(b);
	return finish(b, ret);
}

static int fail_held(pid_t pid, int code)
{
	struct hold_owner owner = { 0 };
	char next[64];

	if (code == -EINVAL)
		return ctl_fail_text(GPREEMPT_CLASS_NO_TARGET,
				     "gpreempt-ctl status shows what it holds",
				     "process %d is a holder of gpreempt-ctl",
				     pid);
	if (code != -EWOULDBLOCK)
		return ctl_fail_reason(GPREEMPT_SYSTEM, code, pid);
	hold_read_owner(pid, &owner);
	snprintf(next, sizeof(next), owner.role > HOLD_ROLE_HOLDER ?
		 "wait until it ends" : "gpreempt-ctl resume %d", pid);
	return ctl_fail_text(GPREEMPT_CLASS_BUSY, next,
			     "process %d is held by process %llu", pid,
			     (unsigned long long)owner.pid);
}

static int preempt_one(struct ctl_args *args)
{
	struct hold_owner owner = { .role = HOLD_ROLE_PREEMPT };
	__cleanup_free uint64_t *samples = NULL;
	struct bench b = { .args = args };
	struct gpreempt_options setup = {
		.size = sizeof(setup),
		.busy = tell_busy,
		.data = &b,
	};
	int lock, ret;

	ret = ctl_need_root(args->pid);
	if (ret)
		return ret;
	samples = calloc(2 * args->count, sizeof(*samples));
	if (!samples || gpreempt_new(&setup, &b.g))
		return ctl_fail_reason(GPREEMPT_SYSTEM, -ENOMEM, args->pid);
	b.suspend_ns = samples;
	b.resume_ns = samples + args->count;
	ret = hold_dir_prepare();
	if (!ret && hold_is_holder(args->pid))
		ret = -EINVAL;
	lock = ret ? ret : hold_lock(args->pid);
	if (lock < 0) {
		gpreempt_free(b.g);
		return fail_held(args->pid, lock);
	}
	owner.pid = getpid();
	hold_write_owner(lock, &owner);
	b.stop = open_stop();
	nudge_start();
	ret = measure(&b);
	hold_forget(args->pid);
	close(lock);
	gpreempt_free(b.g);
	return ret;
}

static int run_preempt(const struct ctl_command *cmd, struct ctl_args *args)
{
	(void)cmd;
	return ctl_each_target(args, preempt_one);
}

static const struct ctl_option options[] = {
	{ "count", CTL_COUNT, offsetof(struct ctl_args, count), "N",
	  "so many cycles (100)" },
	{ "hold", CTL_DURATION, offsetof(struct ctl_args, hold_ns), "TIME",
	  "hold the queues for that time in each (100ms)" },
	{ "interval", CTL_DURATION, offsetof(struct ctl_args, interval_ns),
	  "TIME", "let them run for that time in between (500ms)" },
	{ "queues", CTL_IDS, 0, "LIST", "only these queue ids (0,2)" },
	{ "verbose", CTL_FLAG, offsetof(struct ctl_args, verbose), NULL,
	  "a line for each cycle, as on a terminal" },
	{ 0 },
};

const struct ctl_command ctl_preempt = {
	.name = "preempt",
	.run = run_preempt,
	.words = CTL_TARGETS,
	.min_words = 1,
	.max_words = 1,
	.usage = "TARGET",
	.summary = "Suspend and resume a process again and again; measure it.",
	.details =
	"Percentiles are nearest-rank, of all samples. The first suspend is\n"
	"shown apart. Nothing stays behind: the queues run when the command\n"
	"ends, also with Ctrl-C or its terminal.\n",
	.options = options,
	.shared = CTL_SHARED_WAIT,
	.defaults = {
		.count = 100,
		.hold_ns = 100 * NSEC_PER_MSEC,
		.interval_ns = 500 * NSEC_PER_MSEC,
	},
};
