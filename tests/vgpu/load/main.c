// SPDX-License-Identifier: GPL-2.0-only
/* vgpu-load: the GPU process of the tests. It uses KFD's ioctls, and guard's socket on request. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <gpreempt/online.h>

#include "attack.h"
#include "churn.h"
#include "process.h"
#include "submit.h"

#define NS_PER_S 1000000000ULL

static volatile sig_atomic_t stop_requested;
static volatile sig_atomic_t usr1_count;
static volatile sig_atomic_t queues_wanted;
static volatile sig_atomic_t attack_wanted;

struct progress {
	uint64_t start_ns;
	uint64_t next_ns; /* time of the next line */
	uint64_t last_ns; /* time of the last line */
	uint64_t last_completed;
};

struct reporter {
	struct gpreempt_online *online;
	bool open; /* a request, by the last report */
};

static void on_stop(int sig)
{
	(void)sig;
	stop_requested = 1;
}

static void on_usr1(int sig)
{
	(void)sig;
	usr1_count++;
}

static void on_usr2(int sig)
{
	(void)sig;
	queues_wanted++;
}

static void on_hup(int sig)
{
	(void)sig;
	attack_wanted = 1;
}

static void catch_signals(void)
{
	static const struct {
		int sig;
		void (*handler)(int number);
	} table[] = {
		{ SIGTERM, on_stop }, { SIGINT, on_stop }, { SIGUSR1, on_usr1 },
		{ SIGUSR2, on_usr2 }, { SIGHUP, on_hup },
	};
	struct sigaction action = {};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		action.sa_handler = table[i].handler;
		sigaction(table[i].sig, &action, NULL);
	}
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* A signal cuts the sleep short, which is wanted. */
static void sleep_ns(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };

	nanosleep(&ts, NULL);
}

static int fail(const char *what, int err)
{
	fprintf(stderr, "vgpu-load: cannot %s: %s\n", what, strerror(-err));
	return 1;
}

static struct load_verdict total(const struct load_process *proc)
{
	struct load_verdict sum = {};
	unsigned int i;

	for (i = 0; i < proc->num_queues; i++)
		load_verdict_add(&sum, &proc->queues[i].verdict);
	return sum;
}

static void print_queues(const struct load_process *proc, unsigned int first)
{
	const struct load_queue *queue;
	unsigned int i;

	for (i = first; i < proc->num_queues; i++) {
		queue = &proc->queues[i];
		printf("queue %u gpu_id 0x%x type %s\n", queue->id, queue->gpu->node.gpu_id,
		       load_queue_type_name(queue->type));
	}
}

static void print_progress(const struct load_process *proc, const struct load_args *args,
			   struct progress *progress, uint64_t now)
{
	struct load_verdict sum = total(proc);
	double interval = (double)(now - progress->last_ns) / NS_PER_S;
	unsigned int i;

	printf("t %.3f submitted %" PRIu64 " completed %" PRIu64 " rate %.0f",
	       (double)(now - progress->start_ns) / NS_PER_S, sum.submitted, sum.completed,
	       (double)(sum.completed - progress->last_completed) / interval);
	if (args->per_queue) {
		printf(" queues");
		for (i = 0; i < proc->num_queues; i++)
			printf(" %u:%" PRIu64, proc->queues[i].id,
			       proc->queues[i].verdict.completed);
	}
	putchar('\n');
	progress->last_ns = now;
	progress->last_completed = sum.completed;
	/* After a stop of the whole process the missed lines are not made up for. */
	progress->next_ns += args->report_ns;
	if (progress->next_ns <= now)
		progress->next_ns = now + args->report_ns;
}

static int add_wanted_queues(struct load_process *proc, const struct load_args *args,
			     const char **what)
{
	unsigned int first = proc->num_queues;
	int ret;

	queues_wanted--;
	ret = load_process_add_queues(proc, args, LOAD_COMPUTE, 1, what);
	print_queues(proc, first);
	return ret;
}

/* A server reports that it has a request before it submits it, and when it has none any more. */
static int report_requests(struct reporter *to, const struct load_process *proc,
			   const struct load_args *args, uint64_t now)
{
	bool open = false;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < proc->num_queues; i++)
		open |= load_requests_open(&proc->queues[i].requests, args, now);
	if (!args->online || open == to->open)
		return 0;
	to->open = open;
	if (!to->online)
		ret = gpreempt_online_open(NULL, &to->online);
	if (!ret)
		ret = open ? gpreempt_online_begin(to->online) : gpreempt_online_end(to->online);
	return ret < 0 ? ret : 0;
}

static int submit(struct reporter *to, struct load_process *proc, const struct load_args *args,
		  uint64_t now, bool stop)
{
	int ret = report_requests(to, proc, args, now);

	if (ret)
		return ret;
	load_submit_round(proc, args, now_ns(), stop);
	return report_requests(to, proc, args, now);
}

static int run(struct load_process *proc, const struct load_args *args, const char **what)
{
	struct progress progress = {};
	struct reporter reporter = {};
	uint64_t now = now_ns(), stop_ns = 0;
	int ret, signals = 0;
	bool stop = false;

	progress.start_ns = now;
	progress.last_ns = now;
	progress.next_ns = now + args->report_ns;
	for (;;) {
		if (attack_wanted) {
			attack_wanted = 0;
			ret = load_attack(proc, args, what);
			if (ret)
				return ret;
			puts("attacked");
		}
		if (queues_wanted) {
			ret = add_wanted_queues(proc, args, what);
			if (ret)
				return ret;
		}
		if (signals != usr1_count) {
			signals = usr1_count;
			printf("signals %d\n", signals);
		}
		now = now_ns();
		if (!stop &&
		    (stop_requested || load_submit_finished(proc, args) ||
		     (args->duration_ns && now - progress.start_ns >= args->duration_ns))) {
			stop = true;
			stop_ns = now;
		}
		ret = submit(&reporter, proc, args, now, stop);
		if (ret) {
			*what = "report a request to guard";
			return ret;
		}
		if (args->report_ns && now >= progress.next_ns)
			print_progress(proc, args, &progress, now);
		if (stop && (load_submit_drained(proc) || now - stop_ns >= args->drain_ns))
			return 0;
		sleep_ns(load_submit_sleep(proc, args, now));
	}
}

/* The times of all requests, queue by queue. */
static int write_samples(const struct load_process *proc, const struct load_args *args)
{
	unsigned int i;
	FILE *out;

	if (!args->samples)
		return 0;
	out = fopen(args->samples, "we");
	if (!out)
		return -errno;
	fputs("# arrival_ns\tsubmit_ns\tstart_ns\tend_ns\twork_ns\n", out);
	for (i = 0; i < proc->num_queues; i++)
		load_requests_write(&proc->queues[i].requests, args, out);
	return fclose(out) ? -errno : 0;
}

static void finish(struct load_process *proc)
{
	unsigned int i;

	for (i = 0; i < proc->num_queues; i++)
		load_queue_finish(&proc->queues[i]);
}

/* 3: the last packets were not waited for, and nothing else is wrong. */
static int exit_status(const struct load_verdict *sum)
{
	struct load_verdict rest = *sum;

	if (load_verdict_good(sum))
		return 0;
	rest.submitted -= rest.unfinished;
	rest.unfinished = 0;
	return load_verdict_good(&rest) ? 3 : 1;
}

static void print_result(const struct load_verdict *sum)
{
	printf("done submitted %" PRIu64 " completed %" PRIu64 " lost %" PRIu64 " doubled %" PRIu64
	       " disordered %" PRIu64 " unfinished %" PRIu64 " signals %d\n",
	       sum->submitted, sum->completed, sum->lost, sum->doubled, sum->disordered,
	       sum->unfinished, (int)usr1_count);
}

static int start(struct load_process *proc, const struct load_args *args, const char **what)
{
	int ret;

	ret = load_process_open(proc, args, what);
	if (ret)
		return ret;
	ret = load_process_add_queues(proc, args, LOAD_COMPUTE, args->queues, what);
	if (ret)
		return ret;
	ret = load_process_add_queues(proc, args, LOAD_SDMA, args->sdma, what);
	if (ret)
		return ret;
	print_queues(proc, 0);
	printf("ready pid %d queues %u\n", (int)getpid(), proc->num_queues);
	return 0;
}

int main(int argc, char **argv)
{
	struct load_churn churn;
	struct load_process proc;
	struct load_verdict sum;
	struct load_args args;
	const char *what = "start";
	char err[160];
	int ret;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (load_args_parse(&args, argc, argv, err, sizeof(err))) {
		fprintf(stderr, "vgpu-load: %s\nTry 'vgpu-load --help'.\n", err);
		return 2;
	}
	if (args.help) {
		fputs(load_usage, stdout);
		return 0;
	}
	catch_signals();
	/* Sleeps are rounded up by 50 us otherwise. */
	if (args.gap_ns)
		prctl(PR_SET_TIMERSLACK, 1);
	ret = args.crowd ? load_crowd(args.crowd) : 0;
	if (ret)
		return fail("make a crowd", ret);
	ret = start(&proc, &args, &what);
	if (ret)
		return fail(what, ret);
	ret = args.crowd ? load_ticks() : 0;
	if (ret)
		return fail("start a timer", ret);
	ret = load_churn_start(&churn, &proc, &args);
	if (ret)
		return fail("start a thread", ret);
	ret = run(&proc, &args, &what);
	if (ret)
		return fail(what, ret);
	load_churn_stop(&churn);
	if (args.churn_ns)
		printf("churned %" PRIu64 "\n", churn.rounds);
	ret = write_samples(&proc, &args);
	if (ret)
		return fail("write the samples", ret);
	if (args.leave) {
		sum = total(&proc);
		print_result(&sum);
		return exit_status(&sum);
	}
	/* With the queues gone nothing can leave a mark any more. */
	finish(&proc);
	sum = total(&proc);
	ret = load_process_close(&proc, &what);
	print_result(&sum);
	if (ret)
		return fail(what, ret);
	return exit_status(&sum);
}
