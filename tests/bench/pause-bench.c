// SPDX-License-Identifier: GPL-2.0-only
/*
 * pause-bench PID OPENS COUNT: a pause against a debug session, on one process.
 *
 * Each in a process of its own, because a process that has had a session makes its helpers with
 * a copy of its memory. OPENS times from nothing attached to off the GPU, cold (with a new
 * handle) and warm; then COUNT times the ioctls alone, there and back. Between two calls the
 * bench waits for 200 to 400 us, so that the GPU works and no call meets its engine at the same
 * point each time. Prints a line "key value" for each figure, times in us.
 */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "lib/preempt/pause.h"
#include "shared/util.h"

#define SETTLE_NS 200000

enum figure {
	PAUSE_COLD,
	SESSION_COLD,
	PAUSE_WARM,
	SESSION_WARM,
	PAUSE,
	UNPAUSE,
	SUSPEND,
	RESUME,
	REFUSED,
	FIGURES
};

static const char *const names[FIGURES] = {
	"pause_from_nothing_cold",
	"session_from_nothing_cold",
	"pause_from_nothing",
	"session_from_nothing",
	"pause_ioctl",
	"unpause_ioctl",
	"suspend_ioctl",
	"resume_ioctl",
	"refused_unpause_ioctl",
};

/* Results of both processes. */
struct results {
	uint64_t p50[FIGURES];
	uint64_t cpu_ns[2]; /* CPU time of one pause and unpause, and of one suspend and resume */
};

struct bench {
	struct gpreempt *g;
	pid_t pid;
	size_t opens, count;
	uint64_t *samples[FIGURES];
	size_t n[FIGURES];
};

static void add(struct bench *b, enum figure f, uint64_t ns)
{
	b->samples[f][b->n[f]++] = ns;
}

static void settle(void)
{
	static uint64_t random = 1;
	struct timespec t = { 0 };

	random = random * 6364136223846793005ULL + 1442695040888963407ULL;
	t.tv_nsec = SETTLE_NS + (random >> 33) % SETTLE_NS;
	nanosleep(&t, NULL);
}

static void renew(struct bench *b)
{
	if (b->g)
		gpreempt_free(b->g);
	if (gpreempt_new(NULL, &b->g))
		die("new", ENOMEM);
}

static uint64_t cpu_ns_of(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000ULL +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000ULL;
}

static uint64_t cpu_ns(void)
{
	return cpu_ns_of(RUSAGE_SELF) + cpu_ns_of(RUSAGE_CHILDREN);
}

static uint64_t pause_it(struct bench *b, bool on)
{
	struct gp_pause_report report;
	struct gpreempt_error err;
	int ret = on ? gp_pause(b->g, b->pid, 0, NULL, &report, &err) :
		       gp_unpause(b->g, b->pid, 0, &report, &err);

	if (ret)
		die_of(&err);
	settle();
	return on && report.before == GP_PAUSED_NO ? report.return_ns : report.ioctl_ns;
}

static void open_pause(struct bench *b, enum figure f)
{
	uint64_t start = now_ns();

	add(b, f, pause_it(b, true) - start);
	pause_it(b, false);
}

static void pauses(struct bench *b, struct results *r)
{
	struct gp_pause_report report;
	uint64_t cpu;
	size_t i;

	for (i = 0; i < b->opens; i++) {
		renew(b);
		open_pause(b, PAUSE_COLD);
		open_pause(b, PAUSE_WARM);
		/* A pause begins with an unpause of a process that is not paused. */
		add(b, REFUSED, pause_it(b, false));
	}
	cpu = cpu_ns();
	for (i = 0; i < b->count; i++) {
		if (gp_pause(b->g, b->pid, 0, NULL, &report, NULL))
			die("pause", EIO);
		add(b, PAUSE, report.ioctl_ns);
		settle();
		add(b, UNPAUSE, pause_it(b, false));
	}
	r->cpu_ns[0] = (cpu_ns() - cpu) / b->count;
}

static void change(struct bench *b, struct gpreempt_session *s, bool off)
{
	struct gpreempt_outcome outcome;

	if (off ? gpreempt_session_suspend(s, NULL, &outcome) :
		  gpreempt_session_resume(s, NULL, &outcome))
		die(off ? "suspend" : "resume", EIO);
	add(b, off ? SUSPEND : RESUME, outcome.ioctl_ns);
	settle();
}

static struct gpreempt_session *open_session(struct bench *b, enum figure f)
{
	struct gpreempt_outcome outcome;
	struct gpreempt_session *s;
	struct gpreempt_error err;
	uint64_t start = now_ns();

	if (gpreempt_session_open(b->g, b->pid, &s, &err))
		die_of(&err);
	if (gpreempt_session_suspend(s, NULL, &outcome))
		die("first suspend", EIO);
	add(b, f, now_ns() - start);
	settle();
	if (gpreempt_session_resume(s, NULL, &outcome))
		die("first resume", EIO);
	settle();
	return s;
}

static void sessions(struct bench *b, struct results *r)
{
	struct gpreempt_session *s;
	uint64_t cpu;
	size_t i;

	for (i = 0; i < b->opens; i++) {
		renew(b);
		gpreempt_session_close(open_session(b, SESSION_COLD));
		gpreempt_session_close(open_session(b, SESSION_WARM));
	}
	s = open_session(b, SESSION_WARM);
	cpu = cpu_ns();
	for (i = 0; i < b->count; i++) {
		change(b, s, true);
		change(b, s, false);
	}
	r->cpu_ns[1] = (cpu_ns() - cpu) / b->count;
	gpreempt_session_close(s);
}

static void run_apart(struct bench *b, struct results *r,
		      void (*run)(struct bench *b, struct results *r))
{
	struct shr_stats stats;
	pid_t child = fork();
	int status;
	size_t i;

	if (!child) {
		shr_ask_short_slices();
		run(b, r);
		for (i = 0; i < FIGURES; i++) {
			if (!b->n[i])
				continue;
			shr_stats(b->samples[i], b->n[i], &stats);
			r->p50[i] = stats.p50;
		}
		exit(0);
	}
	if (waitpid(child, &status, 0) != child || status)
		exit(1);
}

static void print_ratio(const char *name, double a, double b)
{
	printf("%s_ratio %.3f\n", name, a / b);
}

int main(int argc, char **argv)
{
	struct bench b = { 0 };
	struct results *r;
	size_t i;

	if (argc != 4)
		return 2;
	b.pid = atoi(argv[1]);
	b.opens = strtoul(argv[2], NULL, 10);
	b.count = strtoul(argv[3], NULL, 10);
	for (i = 0; i < FIGURES; i++)
		b.samples[i] = get(b.opens + b.count + 1, sizeof(uint64_t));
	r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r == MAP_FAILED)
		die("memory", errno);
	run_apart(&b, r, pauses);
	run_apart(&b, r, sessions);
	for (i = 0; i < FIGURES; i++)
		printf("%s_us %.1f\n", names[i], r->p50[i] / 1000.0);
	printf("pause_cpu_us %.1f\n", r->cpu_ns[0] / 1000.0);
	printf("suspend_cpu_us %.1f\n", r->cpu_ns[1] / 1000.0);
	print_ratio("pause_ioctl", r->p50[PAUSE], r->p50[SUSPEND]);
	print_ratio("unpause_ioctl", r->p50[UNPAUSE], r->p50[RESUME]);
	print_ratio("pause_from_nothing_cold", r->p50[PAUSE_COLD], r->p50[SESSION_COLD]);
	print_ratio("pause_from_nothing", r->p50[PAUSE_WARM], r->p50[SESSION_WARM]);
	return 0;
}
