// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

#include <gpreempt/select.h>

#include "output/table.h"
#include "ctl/text/snapshot.h"
#include "ctl/text/load.h"
#include "shared/clean.h"
#include "shared/clock.h"
#include "shared/macro.h"

#ifndef VIEW_DIR
#define VIEW_DIR "/sys/kernel/debug/gpreempt"
#endif
#define PROC_DIR  "/sys/class/kfd/kfd/proc"
#define KMSG_LINE 8192
#define WORD_SIZE 256

static int fail(const char *what, int err)
{
	return ctl_fail_text(err == EACCES || err == EPERM ?
				     GPREEMPT_CLASS_PERMISSION :
				     GPREEMPT_CLASS_FAILED,
			     NULL, "%s: %s", what, strerror(err));
}

/*
 * All directories of a path; the last one must be new. What is in it only root
 * may read elsewhere: debugfs and, as a rule, the kernel's log.
 */
static int make_dirs(const char *dir)
{
	char path[4096], *slash;

	snprintf(path, sizeof(path), "%s", dir);
	for (slash = path; (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			return fail(path, errno);
		*slash = '/';
	}
	if (!mkdir(dir, 0700))
		return 0;
	/* An empty one will do. */
	if (errno != EEXIST || rmdir(dir) || mkdir(dir, 0700))
		return fail(dir, errno == ENOTEMPTY ? EEXIST : errno);
	return 0;
}

/* NULL after saying why. */
static FILE *create(const char *dir, const char *name)
{
	char path[4096];
	FILE *file;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file)
		fail(path, errno);
	return file;
}

/* 0, or the exit status after saying why not: the disk may be full. */
static int end_file(FILE *file, const char *dir, const char *name)
{
	char path[4096];
	bool bad;

	if (!file)
		return GPREEMPT_CLASS_FAILED;
	bad = ferror(file);
	if (!fclose(file) && !bad)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return fail(path, errno ? errno : EIO);
}

/* A file of the system as it is. -errno: it cannot be read. */
static int copy(const char *from, const char *dir, const char *name)
{
	size_t len;
	char *all = ctl_read_file(from, &len);
	FILE *file;

	if (!all)
		return -errno;
	file = create(dir, name);
	if (file)
		fwrite(all, 1, len, file);
	free(all);
	return end_file(file, dir, name);
}

/* The first line of a file without its end, or "-". */
static const char *first_line(char *buf, const char *format, ...)
{
	char path[512];
	va_list args;
	FILE *file;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	file = fopen(path, "r");
	if (!file || !fgets(buf, WORD_SIZE, file))
		strcpy(buf, "-");
	if (file)
		fclose(file);
	buf[strcspn(buf, "\n")] = '\0';
	return *buf ? buf : strcpy(buf, "-");
}

static void write_info(FILE *file, const char *tag)
{
	struct utsname host;
	char when[64], buf[WORD_SIZE];
	time_t now = time(NULL);
	struct tm tm;

	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	uname(&host);
	fprintf(file, SNAPSHOT_NAME " - version: " SNAPSHOT_VERSION "\n"
				    "# key value\n");
	fprintf(file, "time %s\nboot_ns %" PRIu64 "\ntag %s\n", when,
		shr_now_ns(), tag ? tag : "-");
	fprintf(file, "host %s\nkernel %s\n", host.nodename, host.release);
	fprintf(file, "amdgpu %s\n",
		first_line(buf, "/sys/module/amdgpu/version"));
	fprintf(file, "amdgpu_srcversion %s\n",
		first_line(buf, "/sys/module/amdgpu/srcversion"));
	fprintf(file, "gpreempt_module %s\n",
		first_line(buf, "/sys/module/gpreempt/version"));
	fprintf(file, "gpreempt %s\nsimulated %d\n", gpreempt_version(),
		ctl_simulated());
}

/* What KFD's sysfs says of each queue: without root, without the module. */
static void write_sysfs(FILE *file, const struct gpreempt_targets *targets)
{
	char gpu[WORD_SIZE], size[WORD_SIZE], type[WORD_SIZE], path[512];
	struct dirent *entry;
	DIR *dir;
	size_t i;

	fprintf(file, "# pid qid gpu_id size type\n");
	for (i = 0; i < targets->count; i++) {
		pid_t pid = targets->targets[i].pid;

		snprintf(path, sizeof(path), PROC_DIR "/%d/queues", pid);
		dir = opendir(path);
		while (dir && (entry = readdir(dir))) {
			const char *q = entry->d_name;

			if (*q == '.')
				continue;
			first_line(gpu, "%s/%s/gpuid", path, q);
			first_line(size, "%s/%s/size", path, q);
			first_line(type, "%s/%s/type", path, q);
			fprintf(file, "%d %s 0x%lx %s %s\n", pid, q,
				strtoul(gpu, NULL, 10), size, type);
		}
		if (dir)
			closedir(dir);
	}
}

/* The number that it has in its innermost namespace. */
static pid_t inner_pid(pid_t pid)
{
	char path[64], line[WORD_SIZE], *last;
	pid_t inner = pid;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "NSpid:", 6))
			continue;
		line[strcspn(line, "\n")] = '\0';
		last = strrchr(line, '\t');
		inner = last ? atoi(last + 1) : pid;
	}
	if (file)
		fclose(file);
	return inner;
}

/* A process names itself: nothing of it ends a line or steers a terminal. */
static void put_clean(FILE *file, const char *text, bool one_word)
{
	char *clean = shr_clean_copy(text, false), *at;

	if (!clean)
		abort();
	for (at = clean; *at; at++) {
		if (one_word && *at == ' ')
			fputs("\\040", file);
		else
			fputc(*at, file);
	}
	free(clean);
}

static void put_args(FILE *file, pid_t pid)
{
	char path[64], *args;
	size_t i, len;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	args = ctl_read_file(path, &len);
	/* Its words are separated by NULs. */
	for (i = 0; args && i + 1 < len; i++)
		if (!args[i])
			args[i] = ' ';
	put_clean(file, args && len ? args : "-", false);
	free(args);
}

void snapshot_write_ps(struct gpreempt *g, FILE *file,
		       const struct gpreempt_targets *targets)
{
	struct gpreempt_container box;
	char comm[WORD_SIZE];
	size_t i;

	fprintf(file, "# pid start ns_pid container comm args\n");
	for (i = 0; i < targets->count; i++) {
		pid_t pid = targets->targets[i].pid;
		bool in = !gpreempt_container(g, pid, &box);

		fprintf(file, "%d %" PRIu64 " %d ", pid,
			targets->targets[i].start, inner_pid(pid));
		put_clean(file, in ? box.engine : "-", true);
		if (in) {
			fputc(':', file);
			put_clean(file, *box.name ? box.name : box.id, true);
		}
		fputc(' ', file);
		put_clean(file, first_line(comm, "/proc/%d/comm", pid), true);
		fputc(' ', file);
		put_args(file, pid);
		fputc('\n', file);
	}
}

/* A process may have ended, and the module may not be there. */
static int copy_views(const struct gpreempt_targets *targets, const char *dir)
{
	char from[128], name[64];
	size_t i;
	int ret = 0;

	for (i = 0; i < targets->count && ret <= 0; i++) {
		snprintf(from, sizeof(from), VIEW_DIR "/pid/%d/queues",
			 targets->targets[i].pid);
		snprintf(name, sizeof(name), TEXT_QUEUES "%d",
			 targets->targets[i].pid);
		ret = copy(from, dir, name);
	}
	if (ret <= 0)
		ret = copy(VIEW_DIR "/processes", dir, "processes");
	if (ret <= 0)
		ret = copy(VIEW_DIR "/nodes", dir, "nodes");
	return ret > 0 ? ret : 0;
}

void snapshot_log_open(struct snapshot_log *log, bool all)
{
	log->fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	/* SEEK_DATA is behind what was cleared. */
	if (log->fd >= 0)
		lseek(log->fd, 0, all ? SEEK_DATA : SEEK_END);
}

void snapshot_log_close(struct snapshot_log *log)
{
	if (log->fd >= 0)
		close(log->fd);
}

/* "6,1234,5678901,-;text", and lines that belong to it. */
static void write_log(FILE *file, int fd)
{
	char line[KMSG_LINE], *text;
	ssize_t len;

	while ((len = read(fd, line, sizeof(line) - 1)) > 0 || errno == EPIPE) {
		unsigned long long us = 0;

		if (len <= 0)
			continue; /* lines were lost, the next is there */
		line[len] = '\0';
		sscanf(line, "%*[^,],%*[^,],%llu", &us);
		text = strchr(line, ';');
		line[strcspn(line, "\n")] = '\0';
		fprintf(file, "[%5llu.%06llu] %s\n", us / 1000000, us % 1000000,
			text ? text + 1 : line);
		errno = 0;
	}
}

/* What several processes have. */
static int write_processes(const char *dir)
{
	struct gpreempt_targets *targets;
	struct gpreempt *g;
	FILE *file;
	int ret = 0;

	if (gpreempt_new(NULL, &g))
		abort();
	if (gpreempt_processes(g, &targets, NULL))
		goto out;
	ret = copy_views(targets, dir);
	if (!ret) {
		file = create(dir, TEXT_SYSFS);
		if (file)
			write_sysfs(file, targets);
		ret = end_file(file, dir, TEXT_SYSFS);
	}
	if (!ret) {
		file = create(dir, SNAPSHOT_PS);
		if (file)
			snapshot_write_ps(g, file, targets);
		ret = end_file(file, dir, SNAPSHOT_PS);
	}
	gpreempt_targets_free(targets);
out:
	gpreempt_free(g);
	return ret;
}

static int write_own(const char *dir, const char *tag, struct snapshot_log *log)
{
	FILE *file = create(dir, SNAPSHOT_INFO);
	int ret;

	if (file)
		write_info(file, tag);
	ret = end_file(file, dir, SNAPSHOT_INFO);
	if (!ret)
		ret = write_processes(dir);
	if (ret || !log || log->fd < 0)
		return ret;
	file = create(dir, SNAPSHOT_LOG);
	if (file)
		write_log(file, log->fd);
	return end_file(file, dir, SNAPSHOT_LOG);
}

int snapshot_take(const char *dir, const char *tag, struct snapshot_log *log)
{
	int ret = ctl_need_root(0);

	if (ret)
		return ret;
	if (access(TEXT_DIR, F_OK))
		return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED,
				     "is amdgpu loaded, and debugfs mounted?",
				     "there is no " TEXT_DIR);
	ret = make_dirs(dir);
	if (ret)
		return ret;
	/* These two one right after the other: they are joined. */
	ret = copy(TEXT_DIR "/" TEXT_MQDS, dir, TEXT_MQDS);
	if (!ret)
		ret = copy(TEXT_DIR "/" TEXT_HQDS, dir, TEXT_HQDS);
	if (ret < 0)
		return fail(TEXT_DIR, -ret);
	if (!ret)
		ret = copy(TEXT_DIR "/" TEXT_RLS, dir, TEXT_RLS);
	return ret > 0 ? ret : write_own(dir, tag, log);
}
