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

#include "ctl/text/load.h"
#include "ctl/text/snapshot.h"
#include "lib/select/words.h"
#include "output/table.h"
#include "shared/clean.h"
#include "shared/clock.h"
#include "shared/macro.h"

#define KMSG_LINE 8192
#define WORD_SIZE 256

/* The first line of a file without its end, or "-". */
static const char *first_line(char *buf, const char *format, ...)
{
	char path[4096 + 64];
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
	fprintf(file, "time %s\nboot_ns %" PRIu64 "\ntag %s\n", when, shr_now_ns(),
		tag ? tag : "-");
	fprintf(file, "host %s\nkernel %s\n", host.nodename, host.release);
	fprintf(file, "amdgpu %s\n", first_line(buf, "/sys/module/amdgpu/version"));
	fprintf(file, "amdgpu_srcversion %s\n", first_line(buf, "/sys/module/amdgpu/srcversion"));
	fprintf(file, "gpreempt_module %s\n", first_line(buf, "/sys/module/gpreempt/version"));
	fprintf(file, "gpreempt %s\nsimulated %d\n", gpreempt_version(), ctl_simulated());
}

/* What KFD's sysfs says of each queue: without root, without the module. */
static void write_sysfs(FILE *file, const char *in, const struct gpreempt_targets *targets)
{
	char gpu[WORD_SIZE], size[WORD_SIZE], type[WORD_SIZE], path[4096];
	struct dirent *entry;
	DIR *dir;
	size_t i;

	fprintf(file, "# pid qid gpu_id size type\n");
	for (i = 0; i < targets->count; i++) {
		pid_t pid = targets->targets[i].pid;

		snprintf(path, sizeof(path), "%s" SNAPSHOT_KFD "/proc/%d/queues", in, pid);
		dir = opendir(path);
		while (dir && (entry = readdir(dir))) {
			const char *q = entry->d_name;

			if (*q == '.')
				continue;
			first_line(gpu, "%s/%s/gpuid", path, q);
			first_line(size, "%s/%s/size", path, q);
			first_line(type, "%s/%s/type", path, q);
			fprintf(file, "%d %s 0x%lx %s %s\n", pid, q, strtoul(gpu, NULL, 10), size,
				type);
		}
		if (dir)
			closedir(dir);
	}
}

/* A process names itself: nothing of it ends a line or steers a terminal. */
static void put_clean(FILE *file, const char *text, bool one_word)
{
	char *clean = shr_must(shr_clean_copy(text, false)), *at;

	for (at = clean; *at; at++) {
		if (one_word && *at == ' ')
			fputs("\\040", file);
		else
			fputc(*at, file);
	}
	free(clean);
}

static void write_ps(struct gpreempt *g, FILE *file, const struct gpreempt_targets *targets)
{
	struct gpreempt_description who;
	struct gp_container box;
	size_t i;

	fprintf(file, "# pid start ns_pid container comm args\n");
	for (i = 0; i < targets->count; i++) {
		pid_t pid = targets->targets[i].pid;
		bool in = !gp_container(g, pid, &box);

		if (gpreempt_describe(g, pid, &who))
			continue;
		fprintf(file, "%d %" PRIu64 " %d ", pid, who.start, who.ns_pid);
		put_clean(file, in ? box.engine : "-", true);
		if (in) {
			fputc(':', file);
			put_clean(file, *box.name ? box.name : box.id, true);
		}
		fputc(' ', file);
		put_clean(file, *who.comm ? who.comm : "-", true);
		fputc(' ', file);
		put_clean(file, *who.command ? who.command : "-", false);
		fputc('\n', file);
	}
}

/* What is saved at its own path has a place of its own for decode and diff, too. */
static int copy_views(const struct gpreempt_targets *targets, const char *dir)
{
	char from[4096], name[64];
	size_t i;
	int ret = 0;

	/* A process may have ended, and the module may not be there. */
	for (i = 0; i < targets->count && ret <= 0; i++) {
		snprintf(from, sizeof(from), "%s" SNAPSHOT_VIEW "/pid/%d/queues", dir,
			 targets->targets[i].pid);
		snprintf(name, sizeof(name), TEXT_QUEUES "%d", targets->targets[i].pid);
		ret = snapshot_copy(from, dir, name);
	}
	snprintf(from, sizeof(from), "%s" SNAPSHOT_VIEW "/processes", dir);
	if (ret <= 0)
		ret = snapshot_copy(from, dir, "processes");
	snprintf(from, sizeof(from), "%s" SNAPSHOT_VIEW "/nodes", dir);
	if (ret <= 0)
		ret = snapshot_copy(from, dir, "nodes");
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

/* Of the processes whose files it has by now. */
static int write_processes(const char *dir)
{
	const struct gpreempt_options options = {
		.size = sizeof(options),
		.from = dir,
	};
	struct gpreempt_targets *targets;
	struct gpreempt *g;
	FILE *file;
	int ret;

	/* KFD has gone meanwhile. */
	if (gpreempt_new(&options, &g))
		return 0;
	if (gpreempt_processes(g, &targets, NULL)) {
		gpreempt_free(g);
		return 0;
	}
	ret = snapshot_save_tracers(dir, g, targets);
	if (!ret)
		ret = copy_views(targets, dir);
	if (!ret) {
		file = snapshot_create(dir, TEXT_SYSFS);
		if (file)
			write_sysfs(file, dir, targets);
		ret = snapshot_end_file(file, dir, TEXT_SYSFS);
	}
	if (!ret) {
		file = snapshot_create(dir, SNAPSHOT_PS);
		if (file)
			write_ps(g, file, targets);
		ret = snapshot_end_file(file, dir, SNAPSHOT_PS);
	}
	gpreempt_targets_free(targets);
	gpreempt_free(g);
	return ret;
}

static int write_own(const char *dir, const char *tag, struct snapshot_log *log)
{
	FILE *file = snapshot_create(dir, SNAPSHOT_INFO);
	int ret;

	if (file)
		write_info(file, tag);
	ret = snapshot_end_file(file, dir, SNAPSHOT_INFO);
	if (!ret)
		ret = write_processes(dir);
	if (ret || !log || log->fd < 0)
		return ret;
	file = snapshot_create(dir, SNAPSHOT_LOG);
	if (file)
		write_log(file, log->fd);
	return snapshot_end_file(file, dir, SNAPSHOT_LOG);
}

static int copy_text(const char *dir, int file)
{
	char from[128];

	snprintf(from, sizeof(from), TEXT_DIR "/%s", text_names[file]);
	return snapshot_copy(from, dir, text_names[file]);
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
	ret = snapshot_make(dir);
	if (ret)
		return ret;
	/* These two one right after the other: they are joined. */
	ret = copy_text(dir, TEXT_MQDS);
	if (!ret)
		ret = copy_text(dir, TEXT_HQDS);
	if (ret < 0)
		return snapshot_fail(TEXT_DIR, -ret);
	if (!ret)
		ret = copy_text(dir, TEXT_RLS);
	if (ret <= 0)
		ret = snapshot_save_host(dir);
	return ret ? ret : write_own(dir, tag, log);
}
