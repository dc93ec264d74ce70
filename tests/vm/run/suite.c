// SPDX-License-Identifier: GPL-2.0-only
/* Many tests: each in a machine of its own, a line each, and the sum. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "vmrun.h"

#define SKIP 77
#define TAIL 20		/* lines shown of a test that failed */

struct sum {
	int passed, failed, skipped;
};

static FILE *open_log(const struct vm *vm, const char *name)
{
	char path[PATH_MAX + 32];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", vm->dir, name);
	f = fopen(path, "we");
	if (!f)
		die("%s: %s", path, strerror(errno));
	return f;
}

static void run_case(const struct bench *b, struct vm *vm,
		     const struct test_case *t, struct outcome *o)
{
	char command[256];
	struct job job = {
		.command = command,
		.vgpu = t->load_vgpu ? t->vgpu : NULL,
		.gpreempt = t->gpreempt,
		.merge = true,
		.timeout = t->timeout,
	};

	snprintf(command, sizeof(command), "exec sh /t/%s", t->script);
	if (make_dirs(vm->dir))
		die("%s: %s", vm->dir, strerror(errno));
	job.output = open_log(vm, "output");
	job.log = open_log(vm, "kernel.log");
	guest_run(vm, b, &job, o);
	fclose(job.output);
	fclose(job.log);
}

/* Why it failed, or an empty string. */
static void judge(const struct bench *b, const struct vm *vm,
		  const struct test_case *t, const struct outcome *o, char *why,
		  size_t size)
{
	char path[PATH_MAX + 32], line[384];

	why[0] = '\0';
	switch (o->verdict) {
	case V_EXIT:
		if (o->number && o->number != SKIP)
			snprintf(why, size, "exit status %d", o->number);
		break;
	case V_SIGNAL:
		snprintf(why, size, "killed by signal %d", o->number);
		break;
	case V_TIMEOUT:
		snprintf(why, size, "not done after %d s", t->timeout);
		break;
	default:
		snprintf(why, size, "%s", o->text);
	}
	snprintf(path, sizeof(path), "%s/kernel.log", vm->dir);
	if (!why[0] && klog_dirty(path, t, b->reports, line, sizeof(line)))
		snprintf(why, size, "dirty kernel log: %s", line);
}

/* The last lines of a file, each with a mark before it. */
static void show_tail(const char *dir, const char *name, const char *mark)
{
	char line[TAIL][512], path[PATH_MAX + 32];
	int n = 0, i;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line[n % TAIL], sizeof(line[0]), f)) {
		line[n % TAIL][strcspn(line[n % TAIL], "\r\n")] = '\0';
		n++;
	}
	fclose(f);
	for (i = n > TAIL ? n - TAIL : 0; i < n; i++)
		printf("    %s %s\n", mark, line[i % TAIL]);
}

static void last_line(const char *dir, char *last, size_t size)
{
	char path[PATH_MAX + 32], line[512];
	FILE *f;

	snprintf(last, size, "no reason given");
	snprintf(path, sizeof(path), "%s/output", dir);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[0])
			snprintf(last, size, "%s", line);
	}
	fclose(f);
}

static void report(const struct bench *b, const struct vm *vm,
		   const struct test_case *t, const struct outcome *o,
		   double seconds, struct sum *sum)
{
	char why[512];

	judge(b, vm, t, o, why, sizeof(why));
	if (why[0]) {
		sum->failed++;
		printf("FAIL  %s (%.1f s): %s\n", t->name, seconds, why);
		show_tail(vm->dir, "output", "|");
		if (o->verdict != V_EXIT || !o->number)
			show_tail(vm->dir, "kernel.log", "k");
		if (o->verdict == V_LOST)
			show_tail(vm->dir, "serial.log", "s");
	} else if (o->verdict == V_EXIT && o->number == SKIP) {
		sum->skipped++;
		last_line(vm->dir, why, sizeof(why));
		printf("SKIP  %s (%.1f s): %s\n", t->name, seconds, why);
	} else {
		sum->passed++;
		printf("pass  %s (%.1f s)\n", t->name, seconds);
	}
	fflush(stdout);
}

static void keep_logs(const struct bench *b, const struct vm *vm,
		      const char *name)
{
	char kept[PATH_MAX];

	snprintf(kept, sizeof(kept), "%s/vm/%s", b->build, name);
	remove_tree(kept);
	if (rename(vm->dir, kept))
		complain("%s: %s", kept, strerror(errno));
}

static void run_one(struct bench *b, const char *path, struct sum *sum)
{
	struct vm vm = { .pid = 0 };
	struct test_case t;
	struct outcome o;
	long long start = now_ms();

	if (case_read(path, &t)) {
		sum->failed++;
		printf("FAIL  %s: its header cannot be read\n", path);
		return;
	}
	t.timeout *= b->slow;
	snprintf(vm.dir, sizeof(vm.dir), "%s/%s", b->run, t.name);
	run_case(b, &vm, &t, &o);
	report(b, &vm, &t, &o, (now_ms() - start) / 1000.0, sum);
	keep_logs(b, &vm, t.name);
	case_free(&t);
}

int suite_run(struct bench *b, char *const *paths, int n)
{
	long long until = now_ms() + b->total * 1000LL;
	struct sum sum = { 0, 0, 0 };
	int i;

	for (i = 0; i < n; i++) {
		if (b->total && now_ms() > until) {
			printf("FAIL  %s: not started, %d s for all tests are over\n",
			       paths[i], b->total);
			sum.failed++;
			continue;
		}
		run_one(b, paths[i], &sum);
	}
	reports_tell(b->reports);
	printf("%d passed, %d failed, %d skipped\n", sum.passed, sum.failed,
	       sum.skipped);
	return sum.failed || !(sum.passed + sum.skipped);
}
