// SPDX-License-Identifier: GPL-2.0-only
/*
 * Figures of the parts "scheduler" and "llm", from raw samples. D is the dilation of
 * GPU time, by which every time is divided.
 *
 *   sched-bench run NAME D GPUS STEPS --online FILE... --offline FILE...
 *	latency of the requests of vgpu-load --samples, and how much of the GPUs'
 *	time each side got. With STEPS the time of a burst is that to the first token
 *	(ttft), and the steps of a request have a mean time each (tpot)
 *   sched-bench guard NAME D FILE
 *	lines of two times, from arrival to the entry of the suspend ioctl and to
 *	its return, in ns
 *   sched-bench idle TID
 *	that thread gets the CPU when no other wants it
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gpreempt/gpreempt.h>

#include "shared/util.h"

#define MAX_SAMPLES 200000
#define COLUMNS	    5

/* A line of vgpu-load's samples. */
struct request {
	uint64_t arrival_ns;
	uint64_t submit_ns;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t work_ns;
};

struct run {
	const char *name;
	double dilation;
	double gpus;
	unsigned int steps; /* lines of a request after that of its burst */
	unsigned int part;  /* place of the next line in its request */
	uint64_t first_ns;  /* the last burst was done */
	uint64_t from_ns;   /* the first arrival */
	uint64_t to_ns;	    /* the last request was done */
	uint64_t latency[MAX_SAMPLES];
	uint64_t step[MAX_SAMPLES]; /* mean of those of a request */
	uint64_t late[MAX_SAMPLES]; /* from arrival to doorbell: the emulator's doing */
	size_t n;
	uint64_t online_ns; /* GPU time of requests */
	uint64_t offline_ns;
};

__attribute__((noreturn)) static void die(const char *what, const char *why)
{
	fprintf(stderr, "sched-bench: %s: %s\n", what, why);
	exit(1);
}

/* Calls for each line of a file of that many numbers. */
static void read_lines(const char *path, int columns, void *data,
		       void (*take)(void *data, const uint64_t *value))
{
	uint64_t value[COLUMNS] = { 0 };
	FILE *f = fopen(path, "re");
	char line[256];

	if (!f)
		die(path, strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		if (line[0] == '#')
			continue;
		if (sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
			   &value[0], &value[1], &value[2], &value[3], &value[4]) != columns)
			die(path, "not what it should be");
		take(data, value);
	}
	fclose(f);
}

static void take_online(void *data, const uint64_t *v)
{
	struct request r = { v[0], v[1], v[2], v[3], v[4] };
	struct run *run = data;

	if (run->n == MAX_SAMPLES)
		die(run->name, "too many requests");
	if (!run->part) {
		run->late[run->n] = r.submit_ns - r.arrival_ns;
		run->latency[run->n] = r.end_ns - r.arrival_ns;
		run->first_ns = r.end_ns;
	}
	if (run->part++ == run->steps) {
		run->step[run->n++] = (r.end_ns - run->first_ns) / (run->steps ? run->steps : 1);
		run->part = 0;
	}
	if (!run->from_ns || r.arrival_ns < run->from_ns)
		run->from_ns = r.arrival_ns;
	if (r.end_ns > run->to_ns)
		run->to_ns = r.end_ns;
	run->online_ns += r.work_ns;
}

/* Count the finished work; work under way at either end evens out. */
static void take_offline(void *data, const uint64_t *v)
{
	struct run *run = data;

	if (v[3] > run->from_ns && v[3] <= run->to_ns)
		run->offline_ns += v[4];
}

static void print_us(const char *name, const char *key, uint64_t ns, double dilation)
{
	printf("%s_%s_us %.1f\n", name, key, ns / dilation / 1e3);
}

static void print_stats(const char *name, uint64_t *ns, size_t n, double dilation)
{
	struct shr_stats s;

	shr_stats(ns, n, &s);
	print_us(name, "p50", s.p50, dilation);
	print_us(name, "p99", s.p99, dilation);
	if (n >= 1000)
		print_us(name, "p999", s.p999, dilation);
	print_us(name, "max", s.max, dilation);
}

static void print_run(struct run *run)
{
	double whole = (run->to_ns - run->from_ns) * run->gpus;
	char key[64];

	if (!run->n)
		die(run->name, "no requests");
	printf("%s_n %zu\n", run->name, run->n);
	snprintf(key, sizeof(key), run->steps ? "%s_ttft" : "%s", run->name);
	print_stats(key, run->latency, run->n, run->dilation);
	if (run->steps) {
		snprintf(key, sizeof(key), "%s_tpot", run->name);
		print_stats(key, run->step, run->n, run->dilation);
	}
	snprintf(key, sizeof(key), "%s_late", run->name);
	print_stats(key, run->late, run->n, run->dilation);
	printf("%s_online_share %.4f\n", run->name, run->online_ns / whole);
	printf("%s_offline_share %.4f\n", run->name, run->offline_ns / whole);
	printf("%s_total_share %.4f\n", run->name, (run->online_ns + run->offline_ns) / whole);
}

static int cmd_run(char **args)
{
	static struct run run;
	bool online = true;

	run.name = args[0];
	run.dilation = atof(args[1]);
	run.gpus = atof(args[2]);
	run.steps = (unsigned int)atoi(args[3]);
	for (args += 4; *args; args++) {
		if (!strcmp(*args, "--online"))
			online = true;
		else if (!strcmp(*args, "--offline"))
			online = false;
		else
			read_lines(*args, COLUMNS, &run, online ? take_online : take_offline);
	}
	print_run(&run);
	return 0;
}

struct switches {
	uint64_t to_ioctl[MAX_SAMPLES];
	uint64_t ioctl[MAX_SAMPLES];
	size_t n;
};

static void take_switch(void *data, const uint64_t *v)
{
	struct switches *s = data;

	if (s->n == MAX_SAMPLES)
		die("guard's samples", "too many");
	s->to_ioctl[s->n] = v[0];
	s->ioctl[s->n++] = v[1] - v[0];
}

static int cmd_guard(const char *name, double dilation, const char *path)
{
	static struct switches s;
	char key[64];

	read_lines(path, 2, &s, take_switch);
	if (!s.n)
		die(path, "no preemptions");
	printf("%s_preemptions %zu\n", name, s.n);
	snprintf(key, sizeof(key), "%s_arrival_to_ioctl", name);
	print_stats(key, s.to_ioctl, s.n, dilation);
	snprintf(key, sizeof(key), "%s_suspend_ioctl", name);
	print_stats(key, s.ioctl, s.n, dilation);
	return 0;
}

static int cmd_idle(const char *tid)
{
	struct sched_param none = { 0 };

	if (sched_setscheduler(atoi(tid), SCHED_IDLE, &none))
		die(tid, strerror(errno));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "idle"))
		return cmd_idle(argv[2]);
	if (argc == 5 && !strcmp(argv[1], "guard"))
		return cmd_guard(argv[2], atof(argv[3]), argv[4]);
	if (argc > 7 && !strcmp(argv[1], "run"))
		return cmd_run(argv + 2);
	fputs("usage: sched-bench run NAME D GPUS STEPS --online FILE... [--offline FILE...]\n"
	      "       sched-bench guard NAME D FILE\n"
	      "       sched-bench idle TID\n",
	      stderr);
	return 2;
}
