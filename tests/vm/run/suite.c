// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many tests: each in a machine of its own, a line each, and the sum. Several workers take the
 * tests, those that take longest first. What a worker prints of a test comes in one piece.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vmrun.h"

#define SKIP	77
#define PACE_MS 60000 /* time between two measurements of the load of the host */

/* State that the workers share. */
struct sum {
	atomic_int next; /* index of the test that a worker takes next */
	atomic_int passed, failed, skipped, kept;
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

static void run_case(const struct bench *b, struct vm *vm, struct job *job, struct outcome *o)
{
	if (make_dirs(vm->dir))
		die("%s: %s", vm->dir, strerror(errno));
	job->output = open_log(vm, "output");
	job->log = open_log(vm, "kernel.log");
	guest_run(vm, b, job, o);
	fclose(job->output);
	fclose(job->log);
}

/* Is there a row "CASE KERNEL REASON" for it, both names as patterns? */
static bool may_skip(const struct bench *b, const char *name)
{
	char line[512], test[128], kernel[128];
	bool found = false;
	FILE *f;

	if (!b->skips)
		return true;
	f = fopen(b->skips, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = line[0] != '#' && sscanf(line, "%127s %127s", test, kernel) == 2 &&
			!fnmatch(test, name, 0) && !fnmatch(kernel, b->kernel, 0);
	if (f)
		fclose(f);
	return found;
}

static void judge_exit(const struct bench *b, const struct vm *vm, const struct test_case *t,
		       const struct outcome *o, char *why, size_t size)
{
	char line[384];

	if (!o->number)
		return;
	if (o->number == SKIP) {
		last_line(vm->dir, "", line, sizeof(line));
		if (!may_skip(b, t->name))
			snprintf(why, size, "skipped, and %s has no row for it on %s: %s", b->skips,
				 b->kernel, line);
		return;
	}
	/* The end of its output may be long. */
	last_line(vm->dir, "FAIL: ", line, sizeof(line));
	snprintf(why, size, "exit status %d%s%s", o->number, line[0] ? ": " : "", line);
}

/* Find the reason why the test failed, or an empty string. */
static void judge(const struct bench *b, const struct vm *vm, const struct test_case *t,
		  const struct outcome *o, char *why, size_t size)
{
	char path[PATH_MAX + 32], line[384];

	why[0] = '\0';
	switch (o->verdict) {
	case V_EXIT:
		judge_exit(b, vm, t, o, why, size);
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

/* Note a name and a reason for the end of the run, from any worker. */
__attribute__((format(printf, 3, 4))) static void note(const struct bench *b, const char *file,
						       const char *fmt, ...)
{
	char path[PATH_MAX], *line;
	va_list ap;
	int fd, n;

	snprintf(path, sizeof(path), "%s/%s", b->run, file);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	va_start(ap, fmt);
	n = vasprintf(&line, fmt, ap);
	va_end(ap);
	if (fd < 0 || n < 0 || write(fd, line, n) != n)
		die("%s: %s", path, strerror(errno));
	free(line);
	close(fd);
}

/* Returns whether it passed. */
static bool report(FILE *to, const struct bench *b, const struct vm *vm, const struct test_case *t,
		   const struct outcome *o, double seconds, struct sum *sum)
{
	char why[512];

	judge(b, vm, t, o, why, sizeof(why));
	if (why[0]) {
		sum->failed++;
		fprintf(to, "FAIL  %s (%.1f s): %s\n", t->name, seconds, why);
		report_failure(to, b, vm, t, o, seconds);
		note(b, "failed", "failed   %s: %.150s\n", t->name, why);
		return false;
	}
	if (o->verdict == V_EXIT && o->number == SKIP) {
		sum->skipped++;
		last_line(vm->dir, "", why, sizeof(why));
		fprintf(to, "SKIP  %s (%.1f s): %s\n", t->name, seconds,
			why[0] ? why : "no reason given");
		note(b, "skipped", "skipped  %s: %.150s\n", t->name, why);
		return false;
	}
	sum->passed++;
	fprintf(to, "pass  %s (%.1f s, CPU %.1f s)\n", t->name, seconds, vm->cpu);
	return true;
}

static void keep_logs(const struct bench *b, const struct vm *vm, const char *name)
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

/* Returns the machine of one test, where it differs from the common one. */
static struct bench bench_of(const struct bench *common, const struct test_case *t)
{
	static long long measured;
	static int pace;
	struct bench b = *common;

	if (!measured || now_ms() - measured > PACE_MS) {
		pace = pace_measure();
		measured = now_ms();
	}
	b.pace = pace;
	if (t->memory[0])
		b.memory = t->memory;
	if (t->append[0])
		b.append = t->append;
	b.waves = t->waves;
	if (t->counted && !b.real)
		bench_count(&b, COUNTED_TEST);
	return b;
}

static struct job job_of(const struct test_case *t, char *command, size_t size)
{
	struct job job = {
		.command = command,
		.vgpu = t->load_vgpu ? t->vgpu : NULL,
		.gpreempt = t->gpreempt,
		.merge = true,
		.timeout = t->timeout,
	};
	int i;

	snprintf(command, size, "exec sh /t/%s", t->script);
	job.file[job.files++] = t->script;
	for (i = 0; i < t->with_count; i++)
		job.file[job.files++] = t->with[i];
	return job;
}

static void run_one(const struct bench *common, const struct test_case *t, struct sum *sum)
{
	struct bench b = bench_of(common, t);
	struct vm vm = { .pid = 0 };
	char command[256], *text = NULL;
	struct job job = job_of(t, command, sizeof(command));
	uint64_t key = result_key(&b, &job);
	long long start = now_ms();
	struct outcome o = { .guest_ms = 0 };
	double seconds;
	size_t size = 0;
	FILE *to;

	if (result_kept(&b, t->name, key)) {
		sum->passed++;
		sum->kept++;
		return;
	}
	snapshot_make(&b, &job);
	snprintf(vm.dir, sizeof(vm.dir), "%s/%s", b.run, t->name);
	run_case(&b, &vm, &job, &o);
	seconds = (now_ms() - start) / 1000.0;
	to = open_memstream(&text, &size);
	if (!to)
		die("out of memory");
	if (report(to, &b, &vm, t, &o, seconds, sum))
		result_keep(&b, t->name, key, vm.cpu);
	fclose(to);
	print_whole(&b, text, size);
	free(text);
	keep_logs(&b, &vm, t->name);
}

struct queued {
	struct test_case test;
	double seconds; /* processor time when it passed last; else a guess */
};

static int longest_first(const void *a, const void *b)
{
	const struct queued *x = a, *y = b;

	return x->seconds > y->seconds ? -1 : x->seconds < y->seconds;
}

static struct queued *read_cases(const struct bench *b, char *const *paths, int n, struct sum *sum)
{
	struct queued *q = calloc(n, sizeof(*q));
	int i, read = 0;

	if (!q)
		die("out of memory");
	for (i = 0; i < n; i++) {
		if (case_read(b->cases, paths[i], &q[read].test)) {
			sum->failed++;
			printf("FAIL  %s: its header cannot be read\n", paths[i]);
			note(b, "failed", "failed   %s: its header cannot be read\n", paths[i]);
			continue;
		}
		q[read].seconds = result_seconds(b, q[read].test.name);
		if (q[read].seconds < 0)
			q[read].seconds = q[read].test.timeout / 4.0;
		read++;
	}
	qsort(q, read, sizeof(*q), longest_first);
	return q;
}

static void start_worker(const struct bench *b, const struct queued *q, int n, struct sum *sum)
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
		run_one(b, &q[i].test, sum);
	fflush(stdout);
	_exit(0);
}

static void show_notes(const struct bench *b, const char *file)
{
	char path[PATH_MAX], *text;
	size_t size;

	snprintf(path, sizeof(path), "%s/%s", b->run, file);
	text = read_file(path, &size);
	if (text)
		fputs(text, stdout);
	free(text);
}

int suite_run(struct bench *b, char *const *paths, int n)
{
	struct sum *sum = shared_zeros(sizeof(*sum));
	struct queued *q = read_cases(b, paths, n, sum);
	int status, i, read = n - sum->failed;

	fflush(stdout);
	for (i = 0; i < b->jobs && i < read; i++)
		start_worker(b, q, read, sum);
	while (wait(&status) > 0)
		if (status) {
			/* The test that it had counts as failed. */
			printf("FAIL  a worker of the runner died (status 0x%x)\n", status);
			sum->failed++;
		}
	reports_tell(b->reports);
	if (sum->kept)
		printf("%d of them passed before on the same input (FRESH=1 runs all)\n",
		       sum->kept);
	printf("%d passed, %d failed, %d skipped\n", sum->passed, sum->failed, sum->skipped);
	show_notes(b, "skipped");
	show_notes(b, "failed");
	for (i = 0; i < read; i++)
		case_free(&q[i].test);
	free(q);
	return sum->failed || !(sum->passed + sum->skipped);
}
