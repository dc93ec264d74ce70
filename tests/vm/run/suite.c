// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many tests: each in a machine of its own, a line each, and the sum. Several
 * workers take the tests in their order. What a worker prints of a test comes in
 * one piece.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vmrun.h"

#define SKIP 77
#define TAIL 20 /* lines shown of a test that failed */

/* What the workers share. */
struct sum {
	atomic_int next; /* index of the test that a worker takes next */
	atomic_int passed, failed, skipped;
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

/* What follows the prefix in the last line that has it, and more; or "". */
static void last_line(const char *dir, const char *prefix, char *last,
		      size_t size)
{
	char path[PATH_MAX + 32], line[512];
	size_t len = strlen(prefix);
	FILE *f;

	last[0] = '\0';
	snprintf(path, sizeof(path), "%s/output", dir);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (!strncmp(line, prefix, len) && line[len])
			snprintf(last, size, "%s", line + len);
	}
	fclose(f);
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
		if (!o->number || o->number == SKIP)
			break;
		/* The end of its output may be long. */
		last_line(vm->dir, "FAIL: ", line, sizeof(line));
		snprintf(why, size, "exit status %d%s%s", o->number,
			 line[0] ? ": " : "", line);
		break;
	case V_SIGNAL:
		snprintf(why, size, "killed by signal %d", o->number);
		break;
	case V_TIMEOUT:
		snprintf(why, size, "not done after %d s", o->number);
		break;
	default:
		snprintf(why, size, "%s", o->text);
	}
	snprintf(path, sizeof(path), "%s/kernel.log", vm->dir);
	if (!why[0] && klog_dirty(path, t, b->reports, line, sizeof(line)))
		snprintf(why, size, "dirty kernel log: %s", line);
}

/* The last lines of a file, each with a mark before it. */
static void show_tail(FILE *to, const char *dir, const char *name,
		      const char *mark)
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
		fprintf(to, "    %s %s\n", mark, line[i % TAIL]);
}

static void report(FILE *to, const struct bench *b, const struct vm *vm,
		   const struct test_case *t, const struct outcome *o,
		   double seconds, struct sum *sum)
{
	char why[512];

	judge(b, vm, t, o, why, sizeof(why));
	if (why[0]) {
		sum->failed++;
		fprintf(to, "FAIL  %s (%.1f s): %s\n", t->name, seconds, why);
		show_tail(to, vm->dir, "output", "|");
		if (o->verdict != V_EXIT || !o->number)
			show_tail(to, vm->dir, "kernel.log", "k");
		if (o->verdict == V_LOST)
			show_tail(to, vm->dir, "serial.log", "s");
	} else if (o->verdict == V_EXIT && o->number == SKIP) {
		sum->skipped++;
		last_line(vm->dir, "", why, sizeof(why));
		fprintf(to, "SKIP  %s (%.1f s): %s\n", t->name, seconds,
			why[0] ? why : "no reason given");
	} else {
		sum->passed++;
		fprintf(to, "pass  %s (%.1f s)\n", t->name, seconds);
	}
}

static void keep_logs(const struct bench *b, const struct vm *vm,
		      const char *name)
{
	char kept[PATH_MAX];

	snprintf(kept, sizeof(kept), "%s/vm/logs/%s", b->build, name);
	remove_tree(kept);
	if (make_dirs(kept) || rename(vm->dir, kept))
		complain("%s: %s", kept, strerror(errno));
}

/* Workers print at the same time: no lines of another one come between. */
static void print_whole(const struct bench *b, const char *text, size_t size)
{
	char path[PATH_MAX];
	int lock;

	snprintf(path, sizeof(path), "%s/print.lock", b->run);
	lock = lock_file(path);
	fwrite(text, 1, size, stdout);
	fflush(stdout);
	close(lock);
}

static void run_one(const struct bench *common, struct test_case *t,
		    struct sum *sum)
{
	struct bench b = *common;
	struct vm vm = { .pid = 0 };
	struct outcome o;
	char *text = NULL;
	long long start;
	size_t size = 0;
	FILE *to;

	b.pace = pace_measure();
	if (t->counted)
		bench_count(&b, COUNTED_TEST);
	snapshot_make(&b);
	snprintf(vm.dir, sizeof(vm.dir), "%s/%s", b.run, t->name);
	start = now_ms();
	run_case(&b, &vm, t, &o);
	to = open_memstream(&text, &size);
	if (!to)
		die("out of memory");
	report(to, &b, &vm, t, &o, (now_ms() - start) / 1000.0, sum);
	fclose(to);
	print_whole(&b, text, size);
	free(text);
	keep_logs(&b, &vm, t->name);
}

static void take(const struct bench *b, const char *path, struct sum *sum)
{
	struct test_case t;

	if (!case_read(b->harness, path, &t)) {
		run_one(b, &t, sum);
	} else {
		sum->failed++;
		printf("FAIL  %s: its header cannot be read\n", path);
		fflush(stdout);
	}
	case_free(&t);
}

static void start_worker(const struct bench *b, char *const *paths, int n,
			 struct sum *sum)
{
	pid_t parent = getpid(), pid = fork();
	int i;

	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid)
		return;
	/* A runner that is killed takes its workers along. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent && (i = sum->next++) < n)
		take(b, paths[i], sum);
	fflush(stdout);
	_exit(0);
}

int suite_run(struct bench *b, char *const *paths, int n)
{
	struct sum *sum = shared_zeros(sizeof(*sum));
	int status, i;

	fflush(stdout);
	for (i = 0; i < b->jobs && i < n; i++)
		start_worker(b, paths, n, sum);
	while (wait(&status) > 0)
		if (status) {
			/* The test that it had counts as failed. */
			printf("FAIL  a worker of the runner died (status 0x%x)\n",
			       status);
			sum->failed++;
		}
	reports_tell(b->reports);
	printf("%d passed, %d failed, %d skipped\n", sum->passed, sum->failed,
	       sum->skipped);
	return sum->failed || !(sum->passed + sum->skipped);
}
