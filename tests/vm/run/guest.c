// SPDX-License-Identifier: GPL-2.0-only
/* A guest from its start to its verdict. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "vmrun.h"

static int wait_word(struct vm *vm, const char *word, long long seconds)
{
	char line[512];
	int ret;

	ret = verdict_line(vm, line, sizeof(line), now_ms() + seconds * 1000);
	if (!ret && strcmp(line, word)) {
		complain("the guest is not %s: %s", word, line);
		ret = -EIO;
	}
	return ret;
}

int guest_boot(struct vm *vm, const struct bench *b, const char *accel, const char *item,
	       int timeout)
{
	int ret = vm_start(vm, b, accel, NULL, item);

	return ret ? ret : wait_word(vm, "ready", (long long)timeout * pace_outside(b));
}

int guest_restore(struct vm *vm, const struct bench *b, const char *from, const char *item,
		  const char *word)
{
	int limit = strcmp(word, "ready") ? RESTORE_TIMEOUT : PREPARE_TIMEOUT;
	char incoming[PATH_MAX + 32];
	int ret;

	snprintf(incoming, sizeof(incoming), "exec:exec cat '%s'", from);
	ret = vm_start(vm, b, b->accel, incoming, item);
	if (!ret)
		ret = qmp_open(vm->qmp);
	if (!ret)
		ret = qmp_go_on(vm->qmp, RESTORE_TIMEOUT * pace_outside(b));
	if (!ret)
		ret = wait_word(vm, word, limit * pace_outside(b));
	return ret;
}

/* A file of ours, as the guest gets it. */
static void put_file(FILE *f, const struct bench *b, const char *name)
{
	char path[PATH_MAX], *text;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", b->cases, name);
	text = read_file(path, &n);
	if (!text)
		die("%s: %s", path, strerror(errno));
	fprintf(f, "file %zu /t/%s\n", n, name);
	fwrite(text, 1, n, f);
	free(text);
}

static void put_terminal(FILE *f)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	const char *term = getenv("TERM");

	ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
	fprintf(f, "tty %u %u\nenv TERM %s\n", size.ws_row, size.ws_col, term ? term : "vt100");
}

/* Make the job's text in memory, since a test's result is kept by it. */
char *guest_job_text(const struct bench *b, const struct job *job, size_t *size)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, size);
	int i;

	if (!f)
		die("out of memory");
	if (job->vgpu && b->chaos)
		fprintf(f, "vgpu %s chaos=%d\n", job->vgpu, b->seed);
	else if (job->vgpu)
		fprintf(f, "vgpu %s\n", job->vgpu);
	if (job->gpreempt)
		fprintf(f, "gpreempt\n");
	if (!job->command)
		goto done;
	fprintf(f, "timeout %d\n", job->timeout * pace_inside(b));
	if (job->merge)
		fprintf(f, "merge\n");
	if (b->leaks)
		fprintf(f, "leaks\n");
	fprintf(f, "env SLOW %d\nenv PACE %d\nenv SEED %d\n", b->slow, pace_inside(b), b->seed);
	for (i = 0; i < job->files; i++)
		put_file(f, b, job->file[i]);
	if (job->tty)
		put_terminal(f);
	fprintf(f, "run\n%s", job->command);
done:
	fclose(f);
	return text;
}

int guest_put_job(const struct vm *vm, const struct bench *b, const struct job *job)
{
	char path[PATH_MAX + 16];
	size_t size;
	char *text;
	FILE *f;
	int ret;

	ret = make_dirs(vm->dir);
	snprintf(path, sizeof(path), "%s/" JOB_FILE, vm->dir);
	f = ret ? NULL : fopen(path, "we");
	if (!f)
		return ret ? ret : -errno;
	text = guest_job_text(b, job, &size);
	ret = fwrite(text, 1, size, f) == size ? 0 : -EIO;
	free(text);
	return fclose(f) ? -EIO : ret;
}

/* Start from the saved guest where there is one, else from a boot. */
static int start(struct vm *vm, const struct bench *b, const struct job *job)
{
	int ret = guest_put_job(vm, b, job);

	if (!ret && b->saved[0] && !access(b->saved, R_OK)) {
		ret = guest_restore(vm, b, b->saved, WIRE_ITEM_JOB, "accepted");
		if (!ret)
			return 0;
		complain("the saved guest could not be restored (%s), booting", strerror(-ret));
		unlink(b->saved);
		vm_stop(vm);
	}
	ret = guest_boot(vm, b, b->accel, WIRE_ITEM_JOB, BOOT_TIMEOUT);
	return ret ? ret : wait_word(vm, "accepted", RESTORE_TIMEOUT * pace_outside(b));
}

void guest_run(struct vm *vm, const struct bench *b, const struct job *wanted, struct outcome *o)
{
	struct job job = *wanted;
	int ret;

	job.patience = (wanted->timeout * 1000LL + GRACE) * pace_outside(b);
	if (b->leaks)
		job.patience += GRACE_LEAKS;
	ret = start(vm, b, &job);
	if (ret)
		verdict_lost(vm, o, "the guest does not get ready");
	else
		pump(vm, &job, o);
	if (o->verdict == V_TIMEOUT)
		o->number = job.timeout * pace_inside(b);
	vm_stop(vm);
}
