// SPDX-License-Identifier: GPL-2.0-only
/*
 * session-bench PID OPENS ROUNDS COUNT: what a session costs.
 *
 * First OPENS sessions are opened, each with its first suspend. Then on one thread, in turn and
 * COUNT times: suspend and resume all queues of the process by a bare ioctl, and by the
 * library. A ratio is that of the two medians of a round; of several rounds the middle one is
 * printed, so that one in which the host was busy elsewhere does not count. Prints a line "key
 * value" for each figure.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/kfd_ioctl.h>

#include "shared/util.h"
#include "bench.h"

#define MAX_QUEUES 1024
#define SETTLE_NS  200000

enum { SUSPEND, RESUME, OPS };
enum { BARE, LIBRARY, WAYS };

/* Result of a round. */
struct result {
	double ratio;
	double us[WAYS]; /* medians */
};

struct bench {
	struct gpreempt *g;
	struct gpreempt_session *session;
	pid_t pid;
	int kfd;
	uint32_t ids[MAX_QUEUES];
	uint32_t n_ids;
	size_t count;
	size_t rounds;
	uint64_t *samples[OPS][WAYS];
	struct result *results[OPS];
};

/* The driver writes to the ids, so that a loop has to write them again. */
static uint64_t bare(struct bench *b, int op)
{
	struct kfd_ioctl_dbg_trap_args args = { .pid = b->pid };
	uint32_t ids[MAX_QUEUES];
	uint64_t start;
	int ret;

	memcpy(ids, b->ids, b->n_ids * sizeof(*ids));
	if (op == SUSPEND) {
		args.op = KFD_IOC_DBG_TRAP_SUSPEND_QUEUES;
		args.suspend_queues.queue_array_ptr = (uintptr_t)ids;
		args.suspend_queues.num_queues = b->n_ids;
		args.suspend_queues.grace_period = UINT32_MAX;
	} else {
		args.op = KFD_IOC_DBG_TRAP_RESUME_QUEUES;
		args.resume_queues.queue_array_ptr = (uintptr_t)ids;
		args.resume_queues.num_queues = b->n_ids;
	}
	start = now_ns();
	ret = ioctl(b->kfd, AMDKFD_IOC_DBG_TRAP, &args);
	start = now_ns() - start;
	if (ret != (int)b->n_ids)
		die("ioctl", ret < 0 ? errno : EPROTO);
	return start;
}

static uint64_t library(struct bench *b, int op)
{
	struct gpreempt_outcome outcome;
	uint64_t start;
	int ret;

	start = now_ns();
	ret = op == SUSPEND ? gpreempt_session_suspend(b->session, NULL, &outcome) :
			      gpreempt_session_resume(b->session, NULL, &outcome);
	start = now_ns() - start;
	if (ret)
		die("session", -ret);
	if (outcome.done != b->n_ids)
		die("not all queues", EPROTO);
	return start;
}

/* Give the GPU the same time to settle after the library's calls as after bare ones. */
static void settle(void)
{
	uint64_t until = now_ns() + SETTLE_NS;

	while (now_ns() < until)
		;
}

/* Answer the process's events, at the cost of neither side. */
static void attend(struct bench *b)
{
	int ret = gpreempt_session_dispatch(b->session);

	if (ret < 0)
		die("dispatch", -ret);
	if (ret & (GPREEMPT_EVENT_LOST | GPREEMPT_EVENT_ENDED))
		die("dispatch", ESRCH);
	settle();
}

static void open_session(struct bench *b)
{
	const struct gpreempt_session_queue *queues;
	struct gpreempt_error err;
	size_t i, n;

	if (gpreempt_session_open(b->g, b->pid, &b->session, &err))
		die_of(&err);
	queues = gpreempt_session_queues(b->session, &n);
	if (!n || n > MAX_QUEUES)
		die("queues", ENODATA);
	b->n_ids = n;
	for (i = 0; i < n; i++)
		b->ids[i] = queues[i].qid;
}

static void run_cycles(struct bench *b)
{
	size_t i;
	int turn;

	for (i = 0; i < b->count; i++) {
		/* The first in one cycle is second in the next. */
		for (turn = 0; turn < WAYS; turn++) {
			int way = (turn + i) % WAYS, op;

			for (op = 0; op < OPS; op++) {
				b->samples[op][way][i] = way == BARE ? bare(b, op) : library(b, op);
				settle();
			}
			attend(b);
		}
	}
}

static void run_opens(struct bench *b, size_t opens)
{
	uint64_t *open_ns = get(opens, sizeof(*open_ns));
	uint64_t *first_ns = get(opens, sizeof(*first_ns));
	struct shr_stats stats;
	size_t i;

	for (i = 0; i < opens; i++) {
		uint64_t start = now_ns();

		open_session(b);
		open_ns[i] = now_ns() - start;
		first_ns[i] = library(b, SUSPEND);
		library(b, RESUME);
		gpreempt_session_close(b->session);
	}
	shr_stats(open_ns, opens, &stats);
	printf("session_open_us %.1f\n", stats.p50 / 1e3);
	shr_stats(first_ns, opens, &stats);
	printf("first_suspend_us %.1f\n", stats.p50 / 1e3);
	printf("session_opens_n %zu\n", opens);
	free(open_ns);
	free(first_ns);
}

static void sum_up(struct bench *b, size_t round)
{
	struct shr_stats stats;
	int op, way;

	for (op = 0; op < OPS; op++) {
		struct result *result = &b->results[op][round];

		for (way = 0; way < WAYS; way++) {
			shr_stats(b->samples[op][way], b->count, &stats);
			result->us[way] = stats.p50 / 1e3;
		}
		result->ratio = result->us[LIBRARY] / result->us[BARE];
	}
}

static int compare(const void *a, const void *b)
{
	const struct result *x = a, *y = b;

	return (x->ratio > y->ratio) - (x->ratio < y->ratio);
}

static void print_op(struct bench *b, int op)
{
	const char *name = op == SUSPEND ? "suspend" : "resume";
	struct result *results = b->results[op];
	size_t last = b->rounds - 1;

	qsort(results, b->rounds, sizeof(*results), compare);
	printf("%s_overhead_ratio %.3f\n", name, results[last / 2].ratio);
	printf("%s_overhead_ratio_least %.3f\n", name, results[0].ratio);
	printf("%s_overhead_ratio_most %.3f\n", name, results[last].ratio);
	printf("%s_bare_us %.1f\n", name, results[last / 2].us[BARE]);
	printf("%s_session_us %.1f\n", name, results[last / 2].us[LIBRARY]);
}

static void prepare(struct bench *b)
{
	int op, way;

	b->kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	if (b->kfd < 0)
		die("/dev/kfd", errno);
	if (gpreempt_new(NULL, &b->g))
		die("memory", ENOMEM);
	for (op = 0; op < OPS; op++) {
		b->results[op] = get(b->rounds, sizeof(struct result));
		for (way = 0; way < WAYS; way++)
			b->samples[op][way] = get(b->count, sizeof(uint64_t));
	}
}

int main(int argc, char **argv)
{
	struct bench b = { 0 };
	size_t opens, round;

	if (argc != 5)
		return 2;
	b.pid = atoi(argv[1]);
	opens = strtoul(argv[2], NULL, 10);
	b.rounds = strtoul(argv[3], NULL, 10);
	b.count = strtoul(argv[4], NULL, 10);
	if (!opens || !b.rounds || !b.count)
		return 2;
	prepare(&b);
	run_opens(&b, opens);
	open_session(&b);
	for (round = 0; round < b.rounds; round++) {
		run_cycles(&b);
		sum_up(&b, round);
	}
	gpreempt_session_close(b.session);
	printf("overhead_n %zu\n", b.count);
	printf("overhead_rounds %zu\n", b.rounds);
	print_op(&b, SUSPEND);
	print_op(&b, RESUME);
	gpreempt_free(b.g);
	return 0;
}
