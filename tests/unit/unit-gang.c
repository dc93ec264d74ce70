// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit-gang.h"

#define NODES "/sys/class/kfd/kfd/topology/nodes/"

struct gp_loop loops[COUNT];
struct gpreempt_gang *gang;
struct gpreempt_error gang_err;

static char names[COUNT][8][64];
static char status[COUNT][128];
static struct gpreempt *lib;

static struct gp_loop *of_pid(pid_t pid)
{
	return &loops[pid - FIRST];
}

/* Files of no process are the same for all. */
static struct gp_loop *of_path(const char *path)
{
	const char *at = strstr(path, "/500");

	return at ? of_pid(atoi(at + 1)) : &loops[0];
}

static int open_kfd(void *be)
{
	(void)be;
	return dup(STDERR_FILENO);
}

static int do_ioctl(void *be, int fd, unsigned long request, void *arg)
{
	struct kfd_ioctl_dbg_trap_args *args = arg;
	struct kfd_ioctl_get_version_args *version = arg;

	(void)be;
	if (request != AMDKFD_IOC_DBG_TRAP) {
		version->major_version = 1;
		version->minor_version = 17;
		return 0;
	}
	return gp_backend_loop.ioctl(of_pid(args->pid), fd, request, arg);
}

static int do_ptrace(void *be, int request, pid_t pid, unsigned long data)
{
	(void)be;
	return gp_backend_loop.ptrace(of_pid(pid), request, pid, data);
}

static int try_trace(void *be, pid_t pid)
{
	(void)be;
	(void)pid;
	return 0;
}

static int do_wait(void *be, pid_t pid, int *wstatus)
{
	(void)be;
	return gp_backend_loop.wait(of_pid(pid), pid, wstatus);
}

static int watch_start(void *be, pid_t pid, void **watch, int *fd)
{
	(void)be;
	return gp_backend_loop.watch_start(of_pid(pid), pid, watch, fd);
}

static void watch_next(void *be, void *watch)
{
	(void)be;
	gp_backend_loop.watch_next(watch, watch);
}

static int watch_stop(void *be, void *watch)
{
	(void)be;
	return gp_backend_loop.watch_stop(watch, watch);
}

static ssize_t read_file(void *be, const char *path, char *buf, size_t size)
{
	(void)be;
	return gp_backend_loop.read_file(of_path(path), path, buf, size);
}

static ssize_t read_link(void *be, const char *path, char *buf, size_t size)
{
	(void)be;
	return gp_backend_loop.read_link(of_path(path), path, buf, size);
}

static int list_dir(void *be, const char *path, int (*fn)(void *arg, const char *name), void *arg)
{
	(void)be;
	return gp_backend_loop.list_dir(of_path(path), path, fn, arg);
}

static int is_root(void *be)
{
	(void)be;
	return 1;
}

static const struct gp_backend_ops ops = {
	.open_kfd = open_kfd,
	.ioctl = do_ioctl,
	.ptrace = do_ptrace,
	.try_trace = try_trace,
	.wait = do_wait,
	.watch_start = watch_start,
	.watch_next = watch_next,
	.watch_stop = watch_stop,
	.read_file = read_file,
	.read_link = read_link,
	.list_dir = list_dir,
	.is_root = is_root,
};

void gang_file(int i, int n, const char *format, const char *text)
{
	snprintf(names[i][n], sizeof(names[i][n]), format, FIRST + i);
	gp_loop_set_file(&loops[i], names[i][n], text);
}

static void make_process(int i)
{
	gp_loop_init(&loops[i], FIRST + i);
	snprintf(status[i], sizeof(status[i]),
		 "Name:\tjob\nState:\tS\n"
		 "Tgid:\t%d\nTracerPid:\t0\nThreads:\t1\n",
		 FIRST + i);
	gang_file(i, 0, "/proc/%d/status", status[i]);
	gang_file(i, 1, "/proc/%d/stat",
		  "1 (a) S 1 2 3 0 -1 4 1 2 3 4 5 6 7 "
		  "8 20 0 3 0 777 100 200\n");
	gang_file(i, 2, "/sys/class/kfd/kfd/proc/%d/queues/", "");
	gang_file(i, 3, "/sys/class/kfd/kfd/proc/%d/", "vram_1");
	gang_file(i, 4, "/proc/%d/task/", "");
	gp_loop_set_file(&loops[i], "/sys/class/kfd/kfd/proc/", "");
	gp_loop_set_file(&loops[i], "/proc/self/ns/pid", "pid:[4026531836]");
	gp_loop_add_queue(&loops[i], 0)->gpu_id = i + 1;
	gp_loop_add_queue(&loops[i], 1)->gpu_id = i + 1;
}

void gang_setup(void)
{
	int i;

	for (i = 0; i < COUNT; i++)
		make_process(i);
	gp_loop_set_file(&loops[0], NODES, "0\n1\n2\n3");
	gp_loop_set_file(&loops[0], NODES "0/gpu_id", "0\n");
	gp_loop_set_file(&loops[0], NODES "1/gpu_id", "1\n");
	gp_loop_set_file(&loops[0], NODES "2/gpu_id", "2\n");
	gp_loop_set_file(&loops[0], NODES "3/gpu_id", "3\n");
	ck_assert_int_eq(gp_new_backend(NULL, &ops, NULL, &lib), 0);
	ck_assert_int_eq(gpreempt_gang_new(lib, &gang), 0);
}

void gang_teardown(void)
{
	int i;

	gpreempt_gang_free(gang);
	gpreempt_gang_free(NULL);
	gpreempt_free(lib);
	for (i = 0; i < COUNT; i++) {
		ck_assert(!loops[i].debugged);
		gp_loop_end(&loops[i]);
	}
}

void gang_add_all(void)
{
	int i;

	for (i = 0; i < COUNT; i++)
		ck_assert_int_eq(gpreempt_gang_add(gang, FIRST + i, GPREEMPT_ROUTE_DEBUG,
						   &gang_err),
				 0);
}

bool gang_held(int i, uint32_t qid)
{
	return gp_loop_queue(&loops[i], qid)->suspended;
}
