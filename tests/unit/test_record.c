// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is recorded of the live system is what a replay answers: each call of the
 * back-end, here with a process of the test's and a device that is no GPU.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kfd_ioctl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/clock.h"
#include "unit.h"
#include "unit-host.h"

#define TEXT	    "a line\nand a byte: \x01\n"
#define PATIENCE_MS 20000

static char dir[32], file[64], recording[64];
static uint64_t in_memory = 0x1234567890abcdef; /* of the child, too */
static pid_t child;

/* What the system has answered; no padding that is not set. */
struct answers {
	int root, disable, kfd, version, trap;
	int seize, interrupt, stop_end, waited, status, detach;
	int memory_ret, no_memory, device_ret, no_device;
	uint64_t memory, device;
	ssize_t file_len, missing, link_len, root_len, list_len;
	char file[64], link[512], root_file[64], list[64];
	int names;
	char name[64];
};

static void setup(void)
{
	FILE *f;

	strcpy(dir, "/tmp/gpreempt-record-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/file", dir);
	snprintf(recording, sizeof(recording), "%s/recording", dir);
	f = fopen(file, "w");
	fputs(TEXT, f);
	fclose(f);
	child = unit_make_sleeper();
}

static void teardown(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	unlink(file);
	unlink(recording);
	ck_assert_int_eq(rmdir(dir), 0);
}

static struct gpreempt *open_lib(bool record)
{
	const struct gpreempt_options options = {
		.size = sizeof(options),
		.record = record ? recording : NULL,
		.replay = record ? NULL : recording,
	};
	struct gpreempt *lib;

	ck_assert_int_eq(gpreempt_new(&options, &lib), 0);
	return lib;
}

static int take_name(void *arg, const char *name)
{
	struct answers *a = arg;

	/* Beside it is the recording itself. */
	if (!strcmp(name, "file"))
		strcpy(a->name, name);
	a->names++;
	return 0;
}

static void ask_kfd(const struct gpreempt *lib, struct answers *a)
{
	struct kfd_ioctl_get_version_args version = { 0 };
	struct kfd_ioctl_dbg_trap_args trap = {
		.pid = child,
		.op = KFD_IOC_DBG_TRAP_DISABLE,
	};
	int fd = lib->ops->open_kfd(lib->be);

	ck_assert_int_ge(fd, 0);
	a->kfd = 1;
	a->version =
		lib->ops->ioctl(lib->be, fd, AMDKFD_IOC_GET_VERSION, &version);
	a->trap = lib->ops->ioctl(lib->be, fd, AMDKFD_IOC_DBG_TRAP, &trap);
	close(fd);
}

/* In the order in which a session leaves a process. */
static void ask_process(const struct gpreempt *lib, struct answers *a)
{
	const struct gp_backend_ops *ops = lib->ops;
	struct pollfd p = { .events = POLLIN };
	void *watch;

	a->seize = ops->ptrace(lib->be, PTRACE_SEIZE, child, 0);
	ck_assert_int_eq(ops->watch_start(lib->be, child, &watch, &p.fd), 0);
	a->interrupt = ops->ptrace(lib->be, PTRACE_INTERRUPT, child, 0);
	ck_assert_int_eq(poll(&p, 1, PATIENCE_MS), 1);
	ops->watch_next(lib->be, watch);
	a->stop_end = ops->watch_stop(lib->be, watch);
	while (!(a->waited = ops->wait(lib->be, child, &a->status)))
		shr_sleep_ns(1000);
	a->detach = ops->ptrace(lib->be, PTRACE_DETACH, child, 0);
	a->memory_ret = ops->read_memory(lib->be, child, (uintptr_t)&in_memory,
					 &a->memory, sizeof(a->memory));
	a->no_memory = ops->read_memory(lib->be, child, 8, &(uint64_t){ 0 }, 8);
}

static void ask_files(const struct gpreempt *lib, struct answers *a)
{
	const struct gp_backend_ops *ops = lib->ops;

	a->file_len = ops->read_file(lib->be, file, a->file, sizeof(a->file));
	a->missing = ops->read_file(lib->be, "/no/such/file", a->list, 1);
	a->link_len = ops->read_link(lib->be, "/proc/self/exe", a->link,
				     sizeof(a->link));
	a->list_len = ops->list_dir(lib->be, dir, take_name, a);
	a->root_len = ops->read_root_file(lib->be, "/etc/passwd", a->root_file,
					  sizeof(a->root_file));
	a->device_ret = ops->device_of(lib->be, "/dev/null", &a->device);
	a->no_device = ops->device_of(lib->be, file, &(uint64_t){ 0 });
}

static void ask_all(bool record, struct answers *a)
{
	struct gpreempt *lib = open_lib(record);

	memset(a, 0, sizeof(*a));
	a->root = lib->ops->is_root(lib->be);
	a->disable = lib->ops->ask_disable(lib->be);
	ask_kfd(lib, a);
	ask_process(lib, a);
	ask_files(lib, a);
	gpreempt_free(lib);
}

START_TEST(the_same)
{
	struct answers live, again;
	struct stat st;

	ask_all(true, &live);
	/* It is the system that was asked. */
	ck_assert_int_eq(live.seize, 0);
	ck_assert_int_eq(live.waited, child);
	ck_assert(WIFSTOPPED(live.status));
	ck_assert_int_eq(live.memory_ret, 0);
	ck_assert_uint_eq(live.memory, in_memory);
	ck_assert_int_lt(live.no_memory, 0);
	ck_assert_int_lt(live.version, 0);
	ck_assert_int_lt(live.trap, 0);
	ck_assert_int_eq(live.file_len, strlen(TEXT));
	ck_assert_mem_eq(live.file, TEXT, strlen(TEXT));
	ck_assert_int_eq(live.root_len, sizeof(live.root_file));
	ck_assert_int_eq(live.missing, -ENOENT);
	ck_assert_uint_eq(live.device, makedev(1, 3));
	ck_assert_int_lt(live.no_device, 0);
	ck_assert_str_eq(live.name, "file");
	ck_assert_int_eq(live.names, 2);
	/* It has what only root may read. */
	ck_assert_int_eq(stat(recording, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	/* Again, without any of these. */
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ck_assert_int_eq(truncate(file, 0), 0);
	ask_all(false, &again);
	ck_assert_mem_eq(&again, &live, sizeof(live));
}
END_TEST

int main(void)
{
	TCase *tc = unit_case();

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_same);
	return unit_run("record and replay");
}
