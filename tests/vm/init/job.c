// SPDX-License-Identifier: GPL-2.0-only
/* One job: read it, unpack the payload, load the modules, run, judge. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "init.h"

#define DISK "/dev/vda"

static void set_clock(const char *seconds)
{
	struct timespec t = { .tv_sec = atoll(seconds) };

	clock_settime(CLOCK_REALTIME, &t);
}

static void job_word(struct job *job, const char *word, const char *value)
{
	if (!strcmp(word, "time")) {
		set_clock(value);
	} else if (!strcmp(word, "timeout")) {
		job->timeout = atoi(value);
	} else if (!strcmp(word, "vgpu")) {
		job->load_vgpu = true;
		snprintf(job->vgpu, sizeof(job->vgpu), "%s", value);
	} else if (!strcmp(word, "gpreempt")) {
		job->load_gpreempt = true;
	} else if (!strcmp(word, "merge")) {
		job->merge = true;
	} else if (!strcmp(word, "leaks")) {
		job->leaks = true;
	} else if (!strcmp(word, "slow")) {
		setenv("SLOW", value, 1);
	} else if (!strcmp(word, "pace")) {
		setenv("PACE", value, 1);
	} else if (!strcmp(word, "tty")) {
		job->tty = true;
		sscanf(value, "%hu %hu", &job->rows, &job->columns);
	} else if (!strcmp(word, "term")) {
		snprintf(job->term, sizeof(job->term), "%s", value);
	}
}

int job_read(struct reader *r, struct job *job)
{
	char line[1024], *value;
	size_t len;
	int ret;

	for (;;) {
		ret = read_line(r, line, sizeof(line));
		if (ret)
			return ret;
		value = strchr(line, ' ');
		if (value)
			*value++ = '\0';
		else
			value = line + strlen(line);
		if (!strcmp(line, "run"))
			break;
		job_word(job, line, value);
	}
	len = strtoul(value, NULL, 10);
	job->command = calloc(1, len + 1);
	if (!job->command)
		return -ENOMEM;
	return read_bytes(r, job->command, len);
}

/*
 * The disk's driver is loaded only now, so that a restored guest sees the disk
 * of this run and not the one that was there when it was saved.
 */
static int unpack_payload(void)
{
	int status = 0, ret, i;
	pid_t pid;

	ret = module_load_list("/boot/disk-modules");
	if (ret)
		return ret;
	for (i = 0; i < 500 && access(DISK, R_OK); i++)
		usleep(10000);
	pid = fork();
	if (!pid) {
		execl("/bin/busybox", "tar", "-x", "-f", DISK, "-C", "/",
		      (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -errno;
	return status ? -EIO : 0;
}

static bool load(const char *name, const char *parameters, char *why,
		 size_t size)
{
	char path[64];
	int ret;

	snprintf(path, sizeof(path), "/lib/modules/%s.ko", name);
	ret = module_load(path, parameters);
	if (ret)
		snprintf(why, size, "%s.ko does not load: %s", name,
			 strerror(-ret));
	return !ret;
}

static bool prepare(const struct job *job, char *why, size_t size)
{
	int ret = unpack_payload();

	if (ret) {
		snprintf(why, size, "the payload could not be unpacked: %s",
			 strerror(-ret));
		return false;
	}
	return (!job->load_vgpu || load("vgpu", job->vgpu, why, size)) &&
	       (!job->load_gpreempt || load("gpreempt", "", why, size));
}

/* Blocked tasks and what each CPU does, into the kernel's log. */
static void tell_where_it_hangs(void)
{
	int fd = open("/proc/sysrq-trigger", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	write_all(fd, "w", 1);
	write_all(fd, "l", 1);
	close(fd);
	usleep(200000);
}

static void judge(int verdict, int status)
{
	if (status == -ETIME)
		say(verdict, "timeout");
	else if (status < 0)
		say(verdict, "failed init: %s", strerror(-status));
	else if (WIFSIGNALED(status))
		say(verdict, "signal %d", WTERMSIG(status));
	else
		say(verdict, "exit %d", WEXITSTATUS(status));
}

void job_run(const int port[WIRE_PORTS], struct reader *r, struct job *job)
{
	int klog = klog_open();
	char why[256];
	struct child c;
	int status;

	if (!prepare(job, why, sizeof(why))) {
		klog_drain(klog, port[WIRE_LOG]);
		say_sent();
		say(port[WIRE_VERDICT], "failed %s", why);
		return;
	}
	status = child_start(&c, job);
	if (!status)
		status = relay(port, r, &c, job, klog);
	if (status == -ETIME)
		tell_where_it_hangs();
	if (job->leaks)
		leaks_find(port[WIRE_LOG]);
	klog_drain(klog, port[WIRE_LOG]);
	say_sent();
	judge(port[WIRE_VERDICT], status);
}
