// SPDX-License-Identifier: GPL-2.0-only
/* A job: find it, unpack the payload, load the modules, run, judge. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "init.h"

#define DISK "/dev/vda"

/* "env NAME VALUE" */
static void set_environment(char *name)
{
	char *value = strchr(name, ' ');

	if (!value)
		return;
	*value++ = '\0';
	setenv(name, value, 1);
}

static void job_word(struct job *job, const char *word, char *value)
{
	if (!strcmp(word, "env")) {
		set_environment(value);
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
	} else if (!strcmp(word, "tty")) {
		job->tty = true;
		sscanf(value, "%hu %hu", &job->rows, &job->columns);
	}
}

/*
 * Once. The disk's driver is loaded only now, so that a restored guest sees the disk
 * of this run and not the one that was there when it was saved.
 */
static int unpack_payload(void)
{
	static bool done;
	int status = 0, ret, i;
	pid_t pid;

	if (done)
		return 0;
	done = true;

	ret = module_load_list("/boot/disk-modules");
	if (ret)
		return ret;
	for (i = 0; i < 500 && access(DISK, R_OK); i++)
		usleep(10000);
	pid = fork();
	if (!pid) {
		execl("/bin/busybox", "tar", "-x", "-f", DISK, "-C", "/", (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -errno;
	return status ? -EIO : 0;
}

static void make_parents(char *path)
{
	char *p;

	for (p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
}

/* "file LENGTH PATH", then its bytes: a file beside those of the payload. */
static char *put_file(const char *value, char *bytes, int *ret)
{
	char path[256];
	FILE *f = NULL;
	size_t n = 0;

	*ret = unpack_payload();
	if (*ret)
		return bytes;
	*ret = -EPROTO;
	if (!value || sscanf(value, "%zu %255s", &n, path) != 2 || strnlen(bytes, n) != n)
		return bytes;
	make_parents(path);
	f = fopen(path, "we");
	*ret = f && fwrite(bytes, 1, n, f) == n ? 0 : -EIO;
	if (f)
		fclose(f);
	return bytes + n;
}

/* Take the lines up to the command, which stays in the text: the text must outlive the job. */
static int parse(struct job *job, char *text)
{
	char *word, *value;
	int ret = 0;

	while (!ret && *text && !job->command) {
		word = text;
		text = strchr(text, '\n');
		if (!text)
			return -EPROTO;
		*text++ = '\0';
		value = strchr(word, ' ');
		if (value)
			*value++ = '\0';
		if (!strcmp(word, "run"))
			job->command = text;
		else if (!strcmp(word, "file"))
			text = put_file(value, text, &ret);
		else
			job_word(job, word, value);
	}
	return ret;
}

int job_find(const char *name, struct job *job)
{
	char *text;
	int ret = fwcfg_read(name, &text);

	return ret ? ret : parse(job, text);
}

static bool load(const char *name, const char *parameters, char *why, size_t size)
{
	char path[64];
	int ret;

	snprintf(path, sizeof(path), "/lib/modules/%s.ko", name);
	ret = module_load(path, parameters);
	if (ret)
		snprintf(why, size, "%s.ko does not load: %s", name, strerror(-ret));
	return !ret;
}

/* Modules that the saved guest has already stay. */
static bool load_once(bool wanted, bool *done, const char *name, const char *parameters, char *why,
		      size_t size)
{
	if (!wanted || *done)
		return true;
	*done = load(name, parameters, why, size);
	return *done;
}

/* Do once what the payload wants before the guest is saved with it. */
static int run_prepare(void)
{
	static bool done;

	if (done || access("/t/data/prepare", X_OK))
		return 0;
	done = true;
	return system("/t/data/prepare >/dev/console 2>&1") ? -EIO : 0;
}

bool job_prepare(const struct job *job, char *why, size_t size)
{
	static bool vgpu, gpreempt;
	int ret = unpack_payload();

	if (ret) {
		snprintf(why, size, "the payload could not be unpacked: %s", strerror(-ret));
		return false;
	}
	if (run_prepare()) {
		snprintf(why, size, "/t/data/prepare failed, see serial.log");
		return false;
	}
	return load_once(job->load_vgpu, &vgpu, "vgpu", job->vgpu, why, size) &&
	       load_once(job->load_gpreempt, &gpreempt, "gpreempt", "", why, size);
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

/* Print the state of the guest for a test that fails. */
static void tell_state(int output)
{
	FILE *f = popen("exec sh /t/state.sh 2>&1", "re");
	char buf[4096];
	size_t n;

	while (f && (n = fread(buf, 1, sizeof(buf), f)))
		write_all(output, buf, n);
	if (f)
		pclose(f);
}

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
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

void job_run(const int port[WIRE_PORTS], int klog, struct reader *r, struct job *job)
{
	long long start = now_ms();
	char why[256];
	struct child c;
	int status;

	if (!job_prepare(job, why, sizeof(why))) {
		klog_drain(klog, port[WIRE_LOG]);
		say_sent(now_ms() - start);
		say(port[WIRE_VERDICT], "failed %s", why);
		return;
	}
	status = child_start(&c, job);
	if (!status)
		status = relay(port, r, &c, job, klog);
	if (status == -ETIME) {
		tell_where_it_hangs();
		tell_state(port[WIRE_OUTPUT]);
	}
	if (job->leaks)
		leaks_find(port[WIRE_LOG]);
	klog_drain(klog, port[WIRE_LOG]);
	say_sent(now_ms() - start);
	judge(port[WIRE_VERDICT], status);
}
