// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files that guard writes: what is in each, and when. A child process replaces one in one
 * step, so that a disk or a network file system that does not answer never makes guard late.
 */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "guard/guard.h"
#include "output/message.h"
#include "shared/atomic-file.h"
#include "shared/child.h"
#include "shared/clock.h"

#define PAUSE_NS (2 * NSEC_PER_MSEC)

static void free_text(struct guard_file *file)
{
	free(file->text);
	file->text = NULL;
}

/* What is in the file now, or NULL when there is no memory. */
static void make_text(struct guard *guard, struct guard_file *file)
{
	FILE *out = open_memstream(&file->text, &file->size);
	int ret;

	if (!out)
		return;
	ret = file->print(guard, out);
	if (fclose(out) || ret)
		free_text(file);
}

static int fail_file(const struct guard_file *file, const char *when, int code)
{
	return ctl_fail_file(file->what, file->path, when, code);
}

/* How a write went. A failure is reported once, until one has worked again. */
static void note(struct guard_file *file, int code)
{
	if (code && !file->failed)
		ctl_note("the %s %s cannot be written: %s", file->what, file->path,
			 shr_file_reason(code));
	file->failed = code;
}

int guard_files_check(struct guard *guard)
{
	const struct guard_options *args = guard->options;
	size_t i;
	int ret;

	guard->file[GUARD_METRICS] = (struct guard_file){
		.what = "metrics file",
		.path = args->metrics,
		.print = guard_print_metrics,
	};
	guard->file[GUARD_SAMPLES_FILE] = (struct guard_file){
		.what = "samples file",
		.path = args->samples,
		.print = guard_print_samples,
	};
	for (i = 0; i < GUARD_FILES; i++) {
		const char *path = guard->file[i].path;

		ret = path ? shr_file_check(path) : 0;
		if (ret)
			return fail_file(&guard->file[i], "cannot be written", ret);
	}
	return 0;
}

/* An errno value fits into an exit status. */
static int replace(void *arg)
{
	const struct guard_file *file = arg;

	/* A collector that runs as another user reads it. */
	return -shr_file_replace(file->path, 0644, file->text, file->size);
}

static int start(struct guard_file *file)
{
	pid_t child = shr_child_start(replace, file, NULL, 0);

	if (child < 0)
		return child;
	file->child = child;
	return 0;
}

static int result_of(int status)
{
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

void guard_files_poll(struct guard *guard)
{
	struct guard_file *file;
	int status;

	for (file = guard->file; file < guard->file + GUARD_FILES; file++)
		if (file->child && shr_child_gone(&file->child, &status))
			note(file, result_of(status));
}

void guard_files_put(struct guard *guard, enum guard_file_kind kind)
{
	struct guard_file *file = &guard->file[kind];
	int ret;

	if (!file->path)
		return;
	guard_files_poll(guard);
	make_text(guard, file);
	if (!file->text)
		return;
	ret = file->child ? -EBUSY : start(file);
	if (ret)
		note(file, ret);
	free_text(file);
}

void guard_files_last(struct guard *guard)
{
	size_t i;

	for (i = 0; i < GUARD_FILES; i++)
		if (guard->file[i].path)
			make_text(guard, &guard->file[i]);
}

/* 0, also when none is being written, or -errno: -ETIMEDOUT. */
static int wait_for(struct guard *guard, struct guard_file *file)
{
	uint64_t end = shr_now_ns() + GUARD_FILE_WAIT_NS;
	int status = 0;

	while (!shr_child_gone(&file->child, &status)) {
		if (shr_now_ns() > end) {
			kill(file->child, SIGKILL);
			return -ETIMEDOUT;
		}
		guard_heartbeat(guard);
		shr_sleep_ns(PAUSE_NS);
	}
	return result_of(status);
}

/* Write the last one. 0, or the exit status. */
static int finish(struct guard *guard, struct guard_file *file)
{
	int ret;

	if (!file->text)
		return ctl_fail_reason(GPREEMPT_SYSTEM, -ENOMEM, 0);
	ret = wait_for(guard, file);
	if (ret != -ETIMEDOUT)
		ret = start(file);
	if (!ret)
		ret = wait_for(guard, file);
	free_text(file);
	return ret ? fail_file(file, "could not be written at the end", ret) : 0;
}

int guard_files_finish(struct guard *guard)
{
	int ret = 0, one;
	size_t i;

	for (i = 0; i < GUARD_FILES; i++) {
		one = guard->file[i].path ? finish(guard, &guard->file[i]) : 0;
		ret = ret ? ret : one;
	}
	return ret;
}
