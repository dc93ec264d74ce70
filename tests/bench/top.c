// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cost of top: its looks, refreshes and screens over the files of a made-up host, in real time.
 *
 *   bench-top DIR PROCESSES GPUS SECONDS
 *
 * Makes the files below DIR: each process has four queues and uses all GPUs. Prints the CPU time
 * of a refresh, with the looks that came before it, in us: user and system. The terminal's part
 * is not in it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <gpreempt/gpreempt.h>
#include <gpreempt/view.h>

#include "ctl/top.h"
#include "shared/util.h"

#define FIRST	 1000 /* PID */
#define DELAY_NS (NSEC_PER_SEC / 2)
#define DEBUGFS	 "sys/kernel/debug/gpreempt/"
#define KFD	 "sys/class/kfd/kfd/"

static const char *dir;

static void check(int ret, const char *what)
{
	if (!ret)
		return;
	fprintf(stderr, "bench-top: %s: %s\n", what, strerror(-ret));
	exit(1);
}

/* A file below the directory, with the directories that it needs. */
__attribute__((format(printf, 1, 2))) static FILE *file(const char *format, ...)
{
	char path[512], *slash;
	va_list ap;
	FILE *f;

	snprintf(path, sizeof(path), "%s/", dir);
	va_start(ap, format);
	vsnprintf(path + strlen(path), sizeof(path) - strlen(path), format, ap);
	va_end(ap);
	for (slash = path; (slash = strchr(slash + 1, '/')); *slash = '/') {
		*slash = '\0';
		mkdir(path, 0755);
	}
	f = fopen(path, "w");
	check(f ? 0 : -errno, path);
	return f;
}

#define WRITE(path, ...)                                 \
	do {                                             \
		FILE *f_ = file path;                    \
		fprintf(f_, __VA_ARGS__);                \
		check(fclose(f_) ? -errno : 0, "write"); \
	} while (0)

static unsigned int gpu_id(unsigned int gpu)
{
	return 0x1000 + gpu;
}

static void make_process(unsigned int pid, unsigned int gpus)
{
	unsigned int i;
	FILE *f;

	for (i = 0; i < gpus; i++) {
		WRITE((KFD "proc/%u/vram_%u", pid, gpu_id(i)), "%u\n", pid * 4096);
		WRITE((KFD "proc/%u/sdma_%u", pid, gpu_id(i)), "0\n");
	}
	WRITE(("proc/%u/comm", pid), "train%u\n", pid);
	WRITE(("proc/%u/cmdline", pid), "python3 train.py --rank %u", pid);
	WRITE(("proc/%u/cgroup", pid), "0::/kubepods/pod%u\n", pid % 50);
	WRITE(("proc/%u/stat", pid), "%u (train) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %u 0 0\n",
	      pid, pid);
	WRITE(("proc/%u/status", pid),
	      "Name:\ttrain\nState:\tS (sleeping)\nTgid:\t%u\nTracerPid:\t0\n"
	      "Uid:\t0\t0\t0\t0\nNSpid:\t%u\n",
	      pid, pid);
	f = file(DEBUGFS "pid/%u/queues", pid);
	fputs("gpreempt-queues - version: 1.4\n"
	      "# qid gpu_id type active slots waves priority rptr wptr\n",
	      f);
	for (i = 0; i < 4; i++)
		fprintf(f, "%u 0x%x compute-aql 4 4 12 7 64 128\n", i, gpu_id(i % gpus));
	check(fclose(f) ? -errno : 0, "write");
}

static void make_host(unsigned int processes, unsigned int gpus)
{
	FILE *nodes = file(DEBUGFS "nodes"), *usage = file(DEBUGFS "usage");
	FILE *list = file(DEBUGFS "processes");
	unsigned int i, j;

	fputs("gpreempt-nodes - version: 1.2\n"
	      "# gpu_id node device xccs slots_used slots\n",
	      nodes);
	fputs("gpreempt-usage - version: 2.0\n#" GP_VIEW_USAGE_COLUMNS(GP_VIEW_COLUMN_NAME) "\n",
	      usage);
	fputs("gpreempt-processes - version: 1.1\n"
	      "# pid queues active slots suspended evicted paused debugged\n",
	      list);
	for (j = 0; j < gpus; j++) {
		fprintf(nodes, "0x%x %u 0000:%02x:00.0 4 8 96\n", gpu_id(j), j + 1, j + 1);
		WRITE((KFD "topology/nodes/%u/mem_banks/0/properties", j + 1),
		      "heap_type 1\nsize_in_bytes 206158430208\n");
		for (i = 0; i < processes; i++)
			fprintf(usage, "%u 0x%x 4 %d %u 2560 read 0 0 0 0 -\n", FIRST + i,
				gpu_id(j), i % 7 != 0, i % 7);
	}
	for (i = 0; i < processes; i++) {
		make_process(FIRST + i, gpus);
		fprintf(list, "%u 4 8 16 0 0 0 0\n", FIRST + i);
	}
	check(fclose(nodes) || fclose(usage) || fclose(list) ? -errno : 0, "write");
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static void refresh(struct ctl_sampler *s, struct top_model *m, struct top_view *v,
		    struct top_screen *screen)
{
	struct gpreempt_error err;

	check(ctl_sampler_refresh(s, &err), "refresh");
	top_gather(m, s);
	top_view_settle(v, m);
	top_screen_resize(screen, 200, 60);
	top_draw(screen, m, v);
}

int main(int argc, char **argv)
{
	struct gpreempt_options options = { .size = sizeof(options) };
	struct top_screen screen = { .utf8 = true };
	struct top_model model = { 0 };
	struct ctl_sampler sampler;
	struct top_view view;
	unsigned long count, i;
	uint64_t next, begin;
	struct gpreempt *g;

	if (argc != 5)
		return 2;
	options.from = dir = argv[1];
	make_host(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10));
	count = strtoul(argv[4], NULL, 10) * NSEC_PER_SEC / DELAY_NS;
	check(gpreempt_new(&options, &g), "open");
	ctl_sampler_init(&sampler, g, 0);
	sampler.live = false;
	top_view_init(&view);
	view.delay_ns = DELAY_NS;
	/* The owners of the processes are found once. */
	refresh(&sampler, &model, &view, &screen);
	next = shr_now_ns();
	begin = cpu_ns();
	for (i = 0; i < count; i++) {
		next += DELAY_NS;
		ctl_sampler_wait(&sampler, next, -1);
		refresh(&sampler, &model, &view, &screen);
	}
	printf("%.0f %.1f\n", (cpu_ns() - begin) / 1000.0 / count,
	       (double)sampler.figures.looks / count);
	check(model.lines.count ? 0 : -ENODATA, "no process was seen");
	top_model_clear(&model);
	top_screen_free(&screen);
	ctl_sampler_clear(&sampler);
	gpreempt_free(g);
	return 0;
}
