// SPDX-License-Identifier: GPL-2.0-only
/* What every command says in the same way. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/message.h"
#include "shared/macro.h"
#include "shared/atomic-file.h"
#include "shared/clean.h"

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

__attribute__((format(printf, 2, 0))) static void print_err(const char *before, const char *format,
							    va_list ap)
{
	fflush(stdout);
	fputs(before, stderr);
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
	print_err("gpreempt-ctl: ", format, ap);
	va_end(ap);
	if (next && *next) {
		clean = shr_clean_copy(next, false);
		fprintf(stderr, "next: %s\n", clean ? clean : "");
		free(clean);
	}
	return class;
}

int ctl_fail_lines(enum gpreempt_class class, const char *text)
{
	const char *end = strchrnul(text, '\n');

	return ctl_fail_text(class, *end ? end + 1 : NULL, "%.*s", (int)(end - text), text);
}

int ctl_fail_file(const char *what, const char *path, const char *when, int code)
{
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     code == -ENOSPC || code == -EDQUOT ?
				     "make room on that disk, and do it again" :
				     "name a file in a directory that can be written",
			     "the %s %s %s: %s", what, path, when, shr_file_reason(code));
}

int ctl_fail_reason(enum gpreempt_reason reason, int code, pid_t pid)
{
	struct gpreempt_error err;

	ctl_set_error(&err, code, reason, pid, "the command");
	return ctl_fail(&err);
}

int ctl_finish_output(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	/* Who reads has enough, as in "| head". */
	if (errno == EPIPE)
		return status;
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     errno == ENOSPC ? "make room on that disk, and do it again" :
					       "give it a standard output that it can write to",
			     "cannot write the output: %s", strerror(errno));
}

void ctl_note(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_err("note: ", format, ap);
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
	if (snapshot)
		ctl_note("state, slots and priorities are not known: the snapshot does "
			 "not have the process as gpreempt.ko shows it");
	else if (geteuid())
		ctl_note("state, slots and priorities are not known: only root may read "
			 "them");
	else
		ctl_note("state, slots and priorities are not known: gpreempt.ko is not "
			 "loaded (gpreempt-ctl module load), or does not show "
			 "the process (gpreempt-ctl doctor)");
}

int ctl_need_root(pid_t pid)
{
	if (geteuid() == 0)
		return 0;
	return ctl_fail_reason(GPREEMPT_NOT_ROOT, -1, pid);
}

bool ctl_is_host(struct gpreempt *g, struct gpreempt_error *err)
{
	/* We are no target; but first it is asked where we are. */
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
	switch (verdict) {
	case GPREEMPT_VERIFIED:
		return "yes";
	case GPREEMPT_CONTRADICTED:
		return "no";
	default:
		return "not checked";
	}
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

const char *ctl_route_name(enum gpreempt_route route)
{
	return route == GPREEMPT_ROUTE_PAUSE ? "pause" : "debug";
}
