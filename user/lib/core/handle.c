// SPDX-License-Identifier: LGPL-2.1-or-later
/* The library's handle, its options, reading of files, and the reasons of errors. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/text.h"
#include "internal.h"

/* The library's handle. */

/* Programs may be older than the last fields, but not than these. */
#define FIRST_SIZE offsetof(struct gpreempt_options, from)

int gp_new_backend(const struct gpreempt_options *options, const struct gp_backend_ops *ops,
		   void *be, struct gpreempt **out)
{
	struct gpreempt *g;

	if (options && options->size < FIRST_SIZE)
		return -EINVAL;
	g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	g->ops = ops;
	g->be = be;
	if (options) {
		g->log = options->log;
		g->busy = options->busy;
		g->data = options->data;
	}
	*out = g;
	return 0;
}

int gpreempt_new(const struct gpreempt_options *options, struct gpreempt **out)
{
	const struct gp_backend_ops *ops = &gp_backend_live;
	struct gpreempt_options o = { .size = sizeof(o) };
	void *be = NULL;
	int ret = 0;

	if (options)
		ret = gp_options_take(options, FIRST_SIZE, &o, sizeof(o));
	if (!ret && o.from) {
		ops = &gp_backend_snapshot;
		ret = gp_snapshot_open(o.from, &be);
	}
	if (ret)
		return ret;
	ret = gp_new_backend(&o, ops, be, out);
	if (!ret)
		(*out)->saved = o.from;
	else if (o.from)
		gp_snapshot_end(be);
	return ret;
}

void gpreempt_free(struct gpreempt *g)
{
	if (!g)
		return;
	if (g->saved)
		gp_snapshot_end(g->be);
	if (g->files)
		g->free_files(g->files);
	free(g);
}

const char *gpreempt_version(void)
{
	return GP_VERSION;
}

int gp_options_take(const void *from, size_t least, void *to, size_t size)
{
	const char *bytes = from;
	size_t given = *(const size_t *)from, i;

	if (given < least)
		return -EINVAL;
	for (i = size; i < given; i++)
		if (bytes[i])
			return -E2BIG;
	memset(to, 0, size);
	memcpy(to, from, given < size ? given : size);
	return 0;
}

/* Files and log lines of the library. */

void gp_log(const struct gpreempt *g, const char *format, ...)
{
	char text[256];
	va_list ap;

	if (!g->log)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	g->log(g->data, text);
}

bool gpreempt_simulated(const struct gpreempt *g)
{
	char text[16];

	return gp_read_small(g, text, sizeof(text), "/sys/module/vgpu/initstate") > 0;
}

/* No file that we want is as large; one of root's may be there to be misused. */
#define MAX_TEXT      (64 << 20)
#define MAX_ROOT_TEXT (1 << 20)

static int read_whole(const struct gpreempt *g,
		      ssize_t (*read)(void *be, const char *path, char *buf, size_t size),
		      const char *path, size_t max, char **text, size_t *len)
{
	/*
	 * The file must come in one read, or a process could change between two halves of its
	 * list: so a buffer that was too small is thrown away and the file read again.
	 */
	size_t size = 4096;
	__cleanup_free char *buf = NULL;

	for (;;) {
		char *bigger = realloc(buf, size);
		ssize_t n;

		if (!bigger)
			return -ENOMEM;
		buf = bigger;
		n = read(g->be, path, buf, size - 1);
		if (n < 0)
			return n;
		if ((size_t)n < size - 1) {
			buf[n] = '\0';
			*text = buf;
			*len = n;
			buf = NULL;
			return 0;
		}
		/* One byte shows that there are more, and one ends the text. */
		if (size == max + 2)
			return -EFBIG;
		size = 4 * size < max + 2 ? 4 * size : max + 2;
	}
}

int gp_read_text(const struct gpreempt *g, const char *path, char **text, size_t *len)
{
	return read_whole(g, g->ops->read_file, path, MAX_TEXT, text, len);
}

int gp_read_root_text(const struct gpreempt *g, const char *path, char **text, size_t *len)
{
	return read_whole(g, g->ops->read_root_file, path, MAX_ROOT_TEXT, text, len);
}

static ssize_t read_start(const struct gpreempt *g, const char *path, char *buf, size_t size)
{
	ssize_t n = g->ops->read_file(g->be, path, buf, size - 1);

	if (n >= 0)
		buf[n] = '\0';
	return n;
}

ssize_t gp_read_small(const struct gpreempt *g, char *buf, size_t size, const char *path_format,
		      ...)
{
	char path[128];
	va_list ap;

	va_start(ap, path_format);
	vsnprintf(path, sizeof(path), path_format, ap);
	va_end(ap);
	return read_start(g, path, buf, size);
}

int gp_read_number(const struct gpreempt *g, uint64_t *value, const char *path_format, ...)
{
	char path[128], text[32];
	va_list ap;
	ssize_t n;

	va_start(ap, path_format);
	vsnprintf(path, sizeof(path), path_format, ap);
	va_end(ap);
	n = read_start(g, path, text, sizeof(text));
	if (n < 0)
		return n;
	text[strcspn(text, "\n")] = '\0';
	return shr_parse_u64(text, INT64_MAX, value);
}

static int stop(void *arg, const char *name)
{
	(void)arg;
	(void)name;
	return 1;
}

int gp_look_in(const struct gpreempt *g, const char *path)
{
	return g->ops->list_dir(g->be, path, stop, NULL);
}

char *gp_pid_path(char *path, const char *folder, pid_t pid, const char *file)
{
	char *at = stpcpy(path, folder);

	*at++ = '/';
	at = shr_put_decimal(at, pid);
	*at++ = '/';
	return stpcpy(at, file);
}

ssize_t gp_read_proc(const struct gpreempt *g, pid_t pid, const char *file, char *buf, size_t size)
{
	char path[GP_PID_PATH];

	gp_pid_path(path, "/proc", pid, file);
	return read_start(g, path, buf, size);
}

/*
 * Reasons of errors: one table, for every program that asks. The next steps name no command of a
 * program; gpreempt-ctl has its own in user/cli/message.c.
 */

/*
 * Words in braces stand for fields of struct gpreempt_error: {pid} {other}
 * {name} {word} {version} {limit} {step} {errno}.
 */
/* clang-format off */
static const struct sentence {
	enum gpreempt_class class;
	const char *text;
	const char *next;
} reasons[GPREEMPT_REASON_COUNT] = {
	[GPREEMPT_OK] = { GPREEMPT_CLASS_DONE, "done", "" },
	[GPREEMPT_SYSTEM] = { GPREEMPT_CLASS_FAILED,
		"{step} failed: {errno}",
		"look at the last lines of the kernel log (dmesg)" },
	[GPREEMPT_NOT_ROOT] = { GPREEMPT_CLASS_PERMISSION,
		"only root may suspend the queues of a process",
		"run the command with sudo" },
	[GPREEMPT_NO_KFD] = { GPREEMPT_CLASS_UNSUPPORTED,
		"there is no usable /dev/kfd ({errno})",
		"this takes an AMD GPU and its driver: modprobe amdgpu" },
	[GPREEMPT_KFD_VERSION] = { GPREEMPT_CLASS_UNSUPPORTED,
		"the driver's interface is {version}; 1.13 to 1.x is needed",
		"use kernel 6.5 or newer, or a current amdgpu-dkms" },
	[GPREEMPT_NO_HWS] = { GPREEMPT_CLASS_UNSUPPORTED,
		"the driver refuses every debug session",
		"do not load amdgpu with sched_policy=2" },
	[GPREEMPT_GPU_OLD] = { GPREEMPT_CLASS_UNSUPPORTED,
		"process {pid} uses a GPU without debug trap",
		"GPUs from gfx9 (Vega) on have it" },
	[GPREEMPT_PID_NAMESPACE] = { GPREEMPT_CLASS_UNSUPPORTED,
		"this is not the host's namespace of processes or of time",
		"run it on the host, not in a container" },
	[GPREEMPT_NO_PROCESS] = { GPREEMPT_CLASS_NO_TARGET,
		"there is no process {pid}",
		"give a PID as the host counts: ls " GP_SYSFS_PROC },
	[GPREEMPT_THREAD] = { GPREEMPT_CLASS_NO_TARGET,
		"{pid} is a thread of process {other}",
		"use the process: {other}" },
	[GPREEMPT_NOT_GPU] = { GPREEMPT_CLASS_NO_TARGET,
		"process {pid} is not a GPU process",
		"GPU processes are listed by: ls " GP_SYSFS_PROC },
	[GPREEMPT_NO_ADDRESS_SPACE] = { GPREEMPT_CLASS_UNSUPPORTED,
		"process {pid} has no address space on its GPUs {name}, and "
		"this kernel's driver may crash when such a process is suspended",
		"try again when it has started up; programs on ROCm's runtime "
		"make one on all GPUs that they can see" },
	[GPREEMPT_LEADER_GONE] = { GPREEMPT_CLASS_UNSUPPORTED,
		"the first thread of process {pid} has ended, "
		"and the driver answers only who traces that thread",
		"it cannot be suspended in this state; only its end helps" },
	[GPREEMPT_TRACED] = { GPREEMPT_CLASS_BUSY,
		"process {pid} is traced by process {other} ({name})",
		"end that debugger first" },
	[GPREEMPT_DEBUGGED] = { GPREEMPT_CLASS_BUSY,
		"another debugger has a GPU debug session open on process {pid}",
		"end that debugger (rocgdb, a ROCm core dump) first" },
	[GPREEMPT_TRACE_DENIED] = { GPREEMPT_CLASS_PERMISSION,
		"the kernel does not let us trace process {pid}",
		"root with CAP_SYS_PTRACE is needed, and not 3 in "
		"/proc/sys/kernel/yama/ptrace_scope" },
	[GPREEMPT_GWS_BUSY] = { GPREEMPT_CLASS_BUSY,
		"process {pid} uses global wave sync or is being profiled",
		"try again when it does not" },
	[GPREEMPT_RUNTIME_OFF] = { GPREEMPT_CLASS_UNSUPPORTED,
		"process {pid} has queues but did not enable the KFD runtime",
		"programs on ROCm's runtime enable it; others cannot be suspended" },
	[GPREEMPT_RUNTIME_BUSY] = { GPREEMPT_CLASS_BUSY,
		"another process on the same GPU is being debugged, and this GPU can do only one",
		"end that session first" },
	[GPREEMPT_RUNTIME_ERROR] = { GPREEMPT_CLASS_FAILED,
		"the driver could not activate the debug trap for process {pid}",
		"look at the last lines of the kernel log (dmesg)" },
	[GPREEMPT_ENDED] = { GPREEMPT_CLASS_NO_TARGET,
		"process {pid} has ended",
		"nothing is left to do" },
	[GPREEMPT_EXECED] = { GPREEMPT_CLASS_NO_TARGET,
		"process {pid} has executed another program",
		"try again when that one uses the GPU" },
	[GPREEMPT_LOST] = { GPREEMPT_CLASS_FAILED,
		"another process ended the debug session on process {pid}; its queues run",
		"find out who opens /dev/kfd: fuser -v /dev/kfd" },
	[GPREEMPT_BAD_TARGET] = { GPREEMPT_CLASS_USAGE,
		"\"{word}\" is no target",
		"targets are PID, cgroup:PATH, role:online, role:offline, user:NAME-OR-UID, "
		"container:NAME-OR-ID, comm:NAME and cmd:PATTERN" },
	[GPREEMPT_BAD_PATTERN] = { GPREEMPT_CLASS_USAGE,
		"the pattern of \"{word}\" is no extended regular expression: {name}",
		"put a backslash before a character that is meant as it is" },
	[GPREEMPT_NO_MATCH] = { GPREEMPT_CLASS_NO_TARGET,
		"{word} names no GPU process",
		"GPU processes are listed by: ls " GP_SYSFS_PROC "; give "
		"a rootless container by its id" },
	[GPREEMPT_MANY_CONTAINERS] = { GPREEMPT_CLASS_USAGE,
		"{word} is the beginning of several containers' ids",
		"give more of the id" },
	[GPREEMPT_SAME_CONTAINER] = { GPREEMPT_CLASS_USAGE,
		"{word} names several containers: each user can give its own one any id",
		"use cgroup:PATH, a path that only root can choose; /proc/PID/cgroup has it" },
	[GPREEMPT_NO_USER] = { GPREEMPT_CLASS_USAGE,
		"the user of \"{word}\" is not in /etc/passwd",
		"give the number: user:UID; id -u NAME prints it" },
	[GPREEMPT_IS_HOLDER] = { GPREEMPT_CLASS_NO_TARGET,
		"process {pid} is a holder of gpreempt, which is no target",
		"name the process that it holds" },
	[GPREEMPT_HANG] = { GPREEMPT_CLASS_FAILED,
		"GPU {name} did not release queues of process {pid}: the "
		"driver has given up waiting, marks them as suspended, and "
		"resets that GPU, with the work of every process on it",
		"look at the kernel log (dmesg) and wait for the end of the "
		"reset; it was not tried again" },
	[GPREEMPT_NO_MODULE] = { GPREEMPT_CLASS_UNSUPPORTED,
		"{step} takes gpreempt.ko, which is not loaded or is not for this user",
		"load it: modprobe gpreempt" },
	[GPREEMPT_GRACE] = { GPREEMPT_CLASS_USAGE,
		"the longest grace period of the GPUs of process {pid} is "
		"{limit} (255 units of 1,024 clocks)",
		"ask for less, or leave it out: then the driver's own time counts" },
	[GPREEMPT_ENDING] = { GPREEMPT_CLASS_NO_TARGET,
		"process {pid} is ending: it has disabled the KFD runtime again",
		"nothing is left to do; if it goes on, try again when it uses the GPU" },
	[GPREEMPT_NO_CLOCK] = { GPREEMPT_CLASS_UNSUPPORTED,
		"the driver does not tell the clock of the GPUs of process "
		"{pid}, so no time can be turned into its units",
		"leave the grace period out: then the driver's own time counts" },
	[GPREEMPT_CONTEXTS] = { GPREEMPT_CLASS_UNSUPPORTED,
		"process {pid} has all its queues in further KFD contexts, and "
		"the driver's debugger can suspend those of the first one only",
		"it cannot be suspended while it uses them" },
	[GPREEMPT_PAUSED] = { GPREEMPT_CLASS_BUSY,
		"process {pid} is paused by another program, such as CRIU",
		"it stays as it is; wait for that program" },
	[GPREEMPT_UNPAUSED] = { GPREEMPT_CLASS_FAILED,
		"another program ended the pause of process {pid}; its queues ran",
		"find out who opens /dev/kfd: fuser -v /dev/kfd" },
	[GPREEMPT_PAUSE_WHOLE] = { GPREEMPT_CLASS_USAGE,
		"a pause takes all queues of process {pid} off all its GPUs",
		"use a debug session for a part of them" },
	[GPREEMPT_HELD] = { GPREEMPT_CLASS_BUSY,
		"process {pid} is held already, by process {other}",
		"release it there first" },
	[GPREEMPT_NO_PAUSE] = { GPREEMPT_CLASS_UNSUPPORTED,
		"the driver cannot pause a process",
		"use kernel 5.18 or newer, or a current amdgpu-dkms" },
	[GPREEMPT_PAUSE_DENIED] = { GPREEMPT_CLASS_PERMISSION,
		"the driver does not let us pause process {pid}",
		"CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN of the host is "
		"needed: run the command with sudo" },
	[GPREEMPT_KFD_CLOSED] = { GPREEMPT_CLASS_UNSUPPORTED,
		"process {pid} has closed its /dev/kfd, through which a process is paused",
		"use a debug session, which needs no descriptor of the process" },
	[GPREEMPT_PAUSE_FAILED] = { GPREEMPT_CLASS_FAILED,
		"the driver could not {step} process {pid} ({errno})",
		"look at the kernel log (dmesg) and at the process's queues before you try again" },
	[GPREEMPT_PAUSE_UNSAFE] = { GPREEMPT_CLASS_UNSUPPORTED,
		"process {pid} cannot be paused, as this driver may crash when "
		"it is resumed: {step}",
		"load gpreempt.ko; where that is not the reason, leave the "
		"process alone, or use kernel 6.5 or newer" },
	[GPREEMPT_STUCK] = { GPREEMPT_CLASS_BUSY,
		"process {pid} cannot be traced now: {step}",
		"try again; a process that stays so may do it on purpose, and "
		"its end helps: kill -9 {pid}" },
	[GPREEMPT_PAUSE_OFF] = { GPREEMPT_CLASS_FAILED,
		"process {pid} is not paused any more, and {name}: for want of "
		"memory, the driver failed to restore its queues, or another "
		"program paused it, too, and this driver counts pauses",
		"look at its queues again; if they stay evicted, it does not "
		"run on a GPU until it ends" },
	[GPREEMPT_OTHER_VERSION] = { GPREEMPT_CLASS_BUSY,
		"the holder of process {pid} is of another version of gpreempt",
		"release it with that version, or end its holder, which lets the queues run" },
	[GPREEMPT_OLD_MODULE] = { GPREEMPT_CLASS_UNSUPPORTED,
		"{step} takes a newer gpreempt.ko than the one that is loaded",
		"load the new one: modprobe -r gpreempt; modprobe gpreempt" },
};
/* clang-format on */

int gp_error(struct gpreempt_error *err, int code, enum gpreempt_reason reason, pid_t pid,
	     const char *step)
{
	if (err)
		*err = (struct gpreempt_error){
			.code = code,
			.reason = reason,
			.pid = pid,
			.step = step,
		};
	return code;
}

/* A reason that is younger than this library is not known. */
static const struct sentence *sentence_of(const struct gpreempt_error *err)
{
	unsigned int reason = err->reason;

	return &reasons[reason < GPREEMPT_REASON_COUNT ? reason : GPREEMPT_SYSTEM];
}

enum gpreempt_class gpreempt_error_class(const struct gpreempt_error *err)
{
	return sentence_of(err)->class;
}

/*
 * Write the value of a field, by the name that begins at word. Names and words
 * are others' bytes, and the text is for a terminal or a log.
 */
static int put_field(const struct gpreempt_error *err, const char *word, size_t len, char *buf,
		     size_t size)
{
	if (!strncmp(word, "pid", len))
		return snprintf(buf, size, "%d", err->pid);
	if (!strncmp(word, "other", len))
		return snprintf(buf, size, "%d", err->other);
	if (!strncmp(word, "name", len))
		return shr_clean(buf, size, err->name, false);
	if (!strncmp(word, "word", len))
		return shr_clean(buf, size, err->word ? err->word : "it", false);
	if (!strncmp(word, "version", len))
		return snprintf(buf, size, "%u.%u", err->major, err->minor);
	if (!strncmp(word, "limit", len))
		return shr_format_duration(err->limit_ns, buf, size);
	if (!strncmp(word, "step", len))
		return snprintf(buf, size, "%s", err->step ? err->step : "it");
	return snprintf(buf, size, "%s", strerror(-err->code));
}

static int expand(const struct gpreempt_error *err, const char *text, char *buf, size_t size)
{
	size_t used = 0;

	if (size)
		buf[0] = '\0';
	while (*text) {
		size_t room = used < size ? size - used : 0;
		char *at = room ? buf + used : NULL;

		if (*text == '{') {
			size_t len = strcspn(++text, "}");

			used += put_field(err, text, len, at, room);
			text += len + 1;
		} else {
			size_t len = strcspn(text, "{");

			used += snprintf(at, room, "%.*s", (int)len, text);
			text += len;
		}
	}
	return used;
}

int gpreempt_error_text(const struct gpreempt_error *err, char *buf, size_t size)
{
	return expand(err, sentence_of(err)->text, buf, size);
}

int gpreempt_error_next(const struct gpreempt_error *err, char *buf, size_t size)
{
	return expand(err, sentence_of(err)->next, buf, size);
}
