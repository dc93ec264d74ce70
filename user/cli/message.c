// SPDX-License-Identifier: GPL-2.0-only
/* Messages and errors, each with its next step. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/text.h"
#include "shared/util.h"
#include "message.h"

/* Next steps for errors, with the commands of gpreempt-ctl. */

/* Steps that replace those of the library, which knows no commands. */
static const char *const steps[GPREEMPT_REASON_COUNT] = {
	[GPREEMPT_NO_MATCH] = "gpreempt-ctl list shows the GPU processes",
	[GPREEMPT_NO_PROCESS] = "gpreempt-ctl list shows the GPU processes",
	[GPREEMPT_NOT_GPU] = "gpreempt-ctl list shows the GPU processes",
	[GPREEMPT_MANY_CONTAINERS] = "give more of the id: gpreempt-ctl list --json shows them",
	[GPREEMPT_IS_HOLDER] = "gpreempt-ctl status shows what it holds",
	[GPREEMPT_PAUSED] = "wait for that program, such as CRIU, which undoes its pause; if it "
			    "has ended: gpreempt-ctl resume --force",
	[GPREEMPT_HELD] = "gpreempt-ctl status shows what holds it",
	[GPREEMPT_OTHER_VERSION] = "use the gpreempt-ctl of that version, or end the holder, which "
				   "lets the queues run: gpreempt-ctl status shows its PID, then "
				   "kill",
	[GPREEMPT_PAUSE_OFF] = "look again: gpreempt-ctl queues; if EVICTED stays, it "
			       "does not run on a GPU until it ends",
};

static const char no_container[] =
	"gpreempt-ctl list shows the GPU processes, and to root the names of its containers; give "
	"a rootless one by its id: container:$(podman inspect -f '{{.Id}}' NAME)";

/* Next steps after a system call that lacked something of the host's, not of the driver's. */
static const struct {
	int code;
	const char *step;
} wants[] = {
	{ -EMFILE, "raise the limit of open files: ulimit -n" },
	{ -ENFILE, "close files: /proc/sys/fs/file-max is the host's limit" },
	{ -ENOMEM, "free memory, or raise the limit of its cgroup" },
	{ -ENOSPC, "make room on that disk" },
};

const char *ctl_want(int code)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wants); i++)
		if (wants[i].code == code)
			return wants[i].step;
	return NULL;
}

void ctl_next_step(const struct gpreempt_error *err, char *buf, size_t size)
{
	const char *want = err->reason < GPREEMPT_REASON_COUNT ? steps[err->reason] : NULL;

	if (err->reason == GPREEMPT_SYSTEM)
		want = ctl_want(err->code);
	if (err->reason == GPREEMPT_NO_MATCH && err->word &&
	    !strncmp(err->word, "container:", strlen("container:")))
		want = no_container;
	if (want)
		snprintf(buf, size, "%s", want);
	else
		gpreempt_error_next(err, buf, size);
}

/* Messages in the form that all commands share. */

/*
 * Every line of text goes through here: there may be a name in it that a
 * process has chosen, a path of a cgroup, or a word of the command line.
 */
__attribute__((format(printf, 2, 0))) static void print_clean(FILE *f, const char *format,
							      va_list ap)
{
	char *text, *clean;

	if (vasprintf(&text, format, ap) < 0)
		return;
	clean = shr_clean_copy(text, false);
	if (clean)
		fputs(clean, f);
	free(clean);
	free(text);
}

void ctl_say(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_clean(stdout, format, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

static const char *program = "gpreempt-ctl", *command;

void ctl_set_name(const char *name, const char *cmd)
{
	program = name;
	command = cmd;
}

__attribute__((format(printf, 2, 0))) static void print_err(const char *before, const char *format,
							    va_list ap)
{
	fflush(stdout);
	fprintf(stderr, "%s: ", before);
	print_clean(stderr, format, ap);
	fputc('\n', stderr);
}

int ctl_set_error(struct gpreempt_error *err, int code, enum gpreempt_reason reason, pid_t pid,
		  const char *step)
{
	*err = (struct gpreempt_error){
		.code = code,
		.reason = reason,
		.pid = pid,
		.step = step,
	};
	return code;
}

int ctl_fail(const struct gpreempt_error *err)
{
	char text[512], next[512];

	gpreempt_error_text(err, text, sizeof(text));
	ctl_next_step(err, next, sizeof(next));
	return ctl_fail_text(gpreempt_error_class(err), next, "%s", text);
}

int ctl_fail_text(enum gpreempt_class class, const char *next, const char *format, ...)
{
	char *clean;
	va_list ap;

	va_start(ap, format);
	print_err(program, format, ap);
	va_end(ap);
	if (next && *next) {
		clean = shr_clean_copy(next, false);
		fprintf(stderr, "next: %s\n", clean ? clean : "");
		free(clean);
	} else if (class == GPREEMPT_CLASS_USAGE && command) {
		fprintf(stderr, "next: %s %s --help\n", program, command);
	}
	return class;
}

const char *ctl_want_room(int code, const char *otherwise)
{
	return code == -ENOSPC || code == -EDQUOT ? "make room on that disk, and do it again" :
						    otherwise;
}

int ctl_fail_file(const char *what, const char *path, const char *when, int code)
{
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     ctl_want_room(code, "name a file in a directory that can be written"),
			     "the %s %s %s: %s", what, path, when, shr_file_reason(code));
}

int ctl_fail_reason(enum gpreempt_reason reason, int code, pid_t pid)
{
	struct gpreempt_error err;

	ctl_set_error(&err, code, reason, pid, "the command");
	return ctl_fail(&err);
}

void ctl_note(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_err("note", format, ap);
	va_end(ap);
}

void ctl_note_reason(enum gpreempt_reason reason, pid_t pid)
{
	const struct gpreempt_error err = { .reason = reason, .pid = pid };
	char text[512], next[512];

	gpreempt_error_text(&err, text, sizeof(text));
	ctl_next_step(&err, next, sizeof(next));
	ctl_note("%s; %s", text, next);
}

void ctl_progress(const char *format, ...)
{
	va_list ap;

	if (!isatty(STDERR_FILENO))
		return;
	fputs("\r\033[K", stderr);
	va_start(ap, format);
	print_clean(stderr, format, ap);
	va_end(ap);
	fflush(stderr);
}

void ctl_progress_end(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

void ctl_note_sysfs(bool snapshot)
{
	const char *why = "gpreempt.ko is not loaded (gpreempt-ctl module load), or does not "
			  "show the process (gpreempt-ctl doctor)";

	if (snapshot)
		why = "the snapshot does not have the process as gpreempt.ko shows it";
	else if (geteuid())
		why = "only root may read them";
	else if (!access("/sys/module/gpreempt", F_OK))
		why = "gpreempt.ko is loaded, and does not show the process here "
		      "(gpreempt-ctl doctor)";
	ctl_note("state, slots and priorities are not known: %s", why);
}

int ctl_need_root(const char *to)
{
	if (geteuid() == 0)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_PERMISSION, "run the command with sudo",
			     "only root may %s", to);
}

bool ctl_is_host(struct gpreempt *g, struct gpreempt_error *err)
{
	/* This process is no target; only the check of its namespace counts. */
	return !gpreempt_check(g, getpid(), err) || err->reason != GPREEMPT_PID_NAMESPACE;
}

int ctl_need_host(struct gpreempt *g)
{
	struct gpreempt_error err;

	return ctl_is_host(g, &err) ? 0 : ctl_fail(&err);
}

bool ctl_simulated(void)
{
	return !access("/sys/module/vgpu", F_OK);
}

void ctl_label_times(void)
{
	if (ctl_simulated())
		puts("times are of the driver's path on a simulated GPU");
}

const char *ctl_verdict_name(enum gpreempt_verdict verdict)
{
	return verdict == GPREEMPT_VERIFIED	? "yes" :
	       verdict == GPREEMPT_CONTRADICTED ? "no" :
						  "not checked";
}

const char *ctl_verified_by_name(enum gpreempt_verified_by by)
{
	static const char *const names[] = {
		[GPREEMPT_BY_SLOTS] = "slots",
		[GPREEMPT_BY_SLOTS_WAVES] = "slots+waves",
		[GPREEMPT_BY_WAVES] = "waves",
	};

	return by < ARRAY_SIZE(names) ? names[by] : NULL;
}

const char *ctl_method_name(enum gpreempt_method method)
{
	return method == GPREEMPT_METHOD_PAUSE ? "pause" : "debug";
}

/* Search for the name that a wrong one means. */

#define MAX_NAME 32 /* bytes; a longer word is no name that we have */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * How many edits make one word of the other: a letter more, one less, another one, or two
 * neighbours in each other's place.
 */
static size_t count_edits(const char *a, const char *b)
{
	size_t rows[3][MAX_NAME + 1], n = strlen(a), m = strlen(b), i, j;

	for (j = 0; j <= m; j++)
		rows[0][j] = j;
	for (i = 1; i <= n; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3];

		row[0] = i;
		for (j = 1; j <= m; j++) {
			row[j] = least(least(above[j], row[j - 1]) + 1,
				       above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], rows[(i + 1) % 3][j - 2] + 1);
		}
	}
	return rows[n % 3][m];
}

void ctl_offer(struct ctl_nearest *nearest, const char *name)
{
	size_t len = strlen(nearest->typed), edits, limit;

	/* Two edits turn a short word into any other one, so allow fewer there. */
	limit = nearest->name ? nearest->edits : 2u + (len > 4) + (len > 7);
	if (len > MAX_NAME || strlen(name) > MAX_NAME)
		return;
	edits = count_edits(nearest->typed, name);
	if (edits >= limit)
		return;
	nearest->name = name;
	nearest->edits = edits;
}
