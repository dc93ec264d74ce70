// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several processes at once, each over a made-up driver of its own: what a
 * thread does to its process touches only that driver.
 */
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "unit.h"

/* That a member renews in short order, as gang.h says. */
#define LOSSES 5
#define COUNT  3
#define FIRST  5000
#define NODES  "/sys/class/kfd/kfd/topology/nodes/"

static struct gp_loop loops[COUNT];
static char names[COUNT][8][64];
static char status[COUNT][128];
static struct gpreempt *lib;
static struct gpreempt_gang *gang;
static struct gpreempt_error err;

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

static int list_dir(void *be, const char *path,
		    int (*fn)(void *arg, const char *name), void *arg)
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
	.name = "several",
	.open_kfd = open_kfd,
	.ioctl = do_ioctl,
	.ptrace = do_ptrace,
	.wait = do_wait,
	.watch_start = watch_start,
	.watch_next = watch_next,
	.watch_stop = watch_stop,
	.read_file = read_file,
	.read_link = read_link,
	.list_dir = list_dir,
	.is_root = is_root,
};

static void set_file(int i, int n, const char *format, const char *text)
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
	set_file(i, 0, "/proc/%d/status", status[i]);
	set_file(i, 1, "/proc/%d/stat",
		 "1 (a) S 1 2 3 0 -1 4 1 2 3 4 5 6 7 "
		 "8 20 0 3 0 777 100 200\n");
	set_file(i, 2, "/sys/class/kfd/kfd/proc/%d/queues/", "");
	set_file(i, 3, "/sys/class/kfd/kfd/proc/%d/", "vram_1");
	set_file(i, 4, "/proc/%d/task/", "");
	gp_loop_set_file(&loops[i], "/sys/class/kfd/kfd/proc/", "");
	gp_loop_set_file(&loops[i], "/proc/self/ns/pid", "pid:[4026531836]");
	gp_loop_add_queue(&loops[i], 0)->gpu_id = i + 1;
	gp_loop_add_queue(&loops[i], 1)->gpu_id = i + 1;
}

static void setup(void)
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

static void teardown(void)
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

static void add_all(void)
{
	int i;

	for (i = 0; i < COUNT; i++)
		ck_assert_int_eq(gpreempt_gang_add(gang, FIRST + i, &err), 0);
}

static bool held(int i, uint32_t qid)
{
	return gp_loop_queue(&loops[i], qid)->suspended;
}

START_TEST(together)
{
	struct gpreempt_gang_outcome out;
	struct gpreempt_member members[COUNT];
	int i;

	add_all();
	ck_assert_int_eq(gpreempt_gang_suspend(gang, NULL, &out), 0);
	ck_assert_uint_eq(out.members, COUNT);
	ck_assert_uint_eq(out.succeeded, COUNT);
	ck_assert_uint_eq(out.requested, 2 * COUNT);
	ck_assert_uint_eq(out.done, 2 * COUNT);
	ck_assert_uint_gt(out.span_ns, 0);
	ck_assert_uint_eq(gpreempt_gang_members(gang, members, COUNT), COUNT);
	for (i = 0; i < COUNT; i++) {
		ck_assert_int_eq(members[i].pid, FIRST + COUNT - 1 - i);
		ck_assert_int_eq(members[i].code, 0);
		ck_assert_uint_gt(members[i].open_ns, 0);
		ck_assert_uint_eq(members[i].outcome.done, 2);
		ck_assert(held(i, 0) && held(i, 1));
	}
	/* Those on the last GPU first. */
	ck_assert_uint_le(members[0].start_ns, members[1].start_ns);
	ck_assert_uint_le(members[1].start_ns, members[2].start_ns);
	/* None before all were ready: such a time would be negative. */
	for (i = 0; i < COUNT; i++)
		ck_assert_uint_lt(members[i].start_ns, 60 * NSEC_PER_SEC);
	ck_assert_int_eq(gpreempt_gang_resume(gang, NULL, &out), 0);
	ck_assert_uint_eq(out.done, 2 * COUNT);
	ck_assert(!held(0, 0) && !held(2, 1));
}
END_TEST

START_TEST(empty)
{
	struct gpreempt_gang_outcome out;

	ck_assert_int_eq(gpreempt_gang_suspend(gang, NULL, &out), 0);
	ck_assert_uint_eq(out.members, 0);
	ck_assert_uint_eq(out.span_ns, 0);
	ck_assert_uint_eq(gpreempt_gang_members(gang, NULL, 0), 0);
	gpreempt_gang_verify(gang);
}
END_TEST

START_TEST(come_and_go)
{
	struct gpreempt_gang_outcome out;

	add_all();
	ck_assert_int_eq(gpreempt_gang_add(gang, FIRST + 1, &err), -EEXIST);
	gpreempt_gang_suspend(gang, NULL, NULL);
	ck_assert_int_eq(gpreempt_gang_remove(gang, FIRST + 1), 0);
	ck_assert(held(0, 0) && !held(1, 0) && held(2, 0));
	ck_assert_int_eq(gpreempt_gang_remove(gang, FIRST + 1), -ESRCH);
	ck_assert_int_eq(gpreempt_gang_resume(gang, NULL, &out), 0);
	ck_assert_uint_eq(out.members, 2);
}
END_TEST

START_TEST(not_opened)
{
	loops[1].debugged = true;
	ck_assert_int_eq(gpreempt_gang_add(gang, FIRST, &err), 0);
	ck_assert_int_eq(gpreempt_gang_add(gang, FIRST + 1, &err), -EALREADY);
	ck_assert_int_eq(err.reason, GPREEMPT_DEBUGGED);
	ck_assert_int_eq(err.pid, FIRST + 1);
	ck_assert_uint_eq(gpreempt_gang_members(gang, NULL, 0), 1);
	loops[1].debugged = false;
}
END_TEST

START_TEST(one_fails)
{
	struct gpreempt_gang_outcome out;
	struct gpreempt_member members[COUNT];

	add_all();
	gp_loop_fail(&loops[1], "suspend", 1, -EIO);
	ck_assert_int_eq(gpreempt_gang_suspend(gang, NULL, &out), -EIO);
	ck_assert_uint_eq(out.succeeded, COUNT - 1);
	ck_assert(held(0, 0) && !held(1, 0) && held(2, 0));
	gpreempt_gang_members(gang, members, COUNT);
	ck_assert_int_eq(members[1].code, -EIO);
	ck_assert_int_eq(members[1].error.reason, GPREEMPT_SYSTEM);
	ck_assert_int_eq(members[0].code, 0);
	ck_assert_int_eq(gpreempt_gang_resume(gang, NULL, &out), 0);
}
END_TEST

static bool readable(void)
{
	struct pollfd p = { .fd = gpreempt_gang_fd(gang), .events = POLLIN };

	ck_assert_int_ge(gpreempt_gang_fd(gang), 0);
	return poll(&p, 1, 5000) > 0;
}

/* A member that ends, one that is lost and renewed: both are reported. */
START_TEST(events)
{
	struct gpreempt_member members[COUNT];
	int i;

	add_all();
	gpreempt_gang_suspend(gang, NULL, NULL);
	gp_loop_stop(&loops[2], PTRACE_EVENT_EXIT << 16 | 0x57f);
	ck_assert(readable());
	gpreempt_gang_members(gang, members, COUNT);
	ck_assert_int_eq(members[0].events, GPREEMPT_EVENT_ENDED);
	ck_assert_int_eq(members[0].error.reason, GPREEMPT_ENDED);
	ck_assert_int_eq(gpreempt_gang_resume(gang, NULL, NULL), -ENOTCONN);
	gpreempt_gang_suspend(gang, NULL, NULL);
	gp_loop_disable(&loops[0]);
	ck_assert(readable());
	for (i = 0; i < 500 && !held(0, 0); i++)
		usleep(10000);
	ck_assert(held(0, 0) && held(0, 1));
	gpreempt_gang_members(gang, members, COUNT);
	ck_assert(members[2].events & GPREEMPT_EVENT_LOST);
}
END_TEST

/* Another process ends the session in the moment of a call, so many times. */
static atomic_int ends;
static atomic_int enabled;

static void before(struct gp_loop *loop, const char *call)
{
	atomic_fetch_add(&enabled, !strcmp(call, "enable"));
	if (!strcmp(call, "suspend") && atomic_fetch_sub(&ends, 1) > 0)
		gp_loop_disable(loop);
}

static void add_one(int to_end)
{
	loops[0].before = before;
	atomic_store(&ends, to_end);
	atomic_store(&enabled, 0);
	ck_assert_int_eq(gpreempt_gang_add(gang, FIRST, &err), 0);
}

/* It is opened again, and the call is made again. */
START_TEST(lost_at_suspend)
{
	struct gpreempt_gang_outcome out;
	struct gpreempt_member member;

	add_one(2);
	ck_assert_int_eq(gpreempt_gang_suspend(gang, NULL, &out), 0);
	ck_assert(held(0, 0) && held(0, 1));
	gpreempt_gang_members(gang, &member, 1);
	ck_assert_int_eq(member.code, 0);
	ck_assert_int_eq(atomic_load(&enabled), 3);
	ck_assert_int_eq(gpreempt_gang_resume(gang, NULL, &out), 0);
	ck_assert(!held(0, 0) && !held(0, 1));
}
END_TEST

/* Too often within one call: that and all later ones fail. */
START_TEST(lost_at_each_suspend)
{
	struct gpreempt_member member;
	int i;

	add_one(1000);
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(gpreempt_gang_suspend(gang, NULL, NULL),
				 -ENOTCONN);
		gpreempt_gang_members(gang, &member, 1);
		ck_assert_int_eq(member.code, -ENOTCONN);
		ck_assert_int_eq(member.error.reason, GPREEMPT_LOST);
		ck_assert(member.events & GPREEMPT_EVENT_LOST);
		ck_assert_int_eq(atomic_load(&enabled), 1 + LOSSES);
	}
}
END_TEST

/* And when it is ended again and again while nothing is asked. */
START_TEST(lost_for_ever)
{
	struct gpreempt_member member;
	int i, renewals;

	add_one(0);
	ck_assert_int_eq(gpreempt_gang_suspend(gang, NULL, NULL), 0);
	for (renewals = 0; renewals < 20; renewals++) {
		gp_loop_disable(&loops[0]);
		for (i = 0; i < 500 && !held(0, 0); i++) {
			gpreempt_gang_members(gang, &member, 1);
			if (member.code)
				break;
			usleep(1000);
		}
		if (!held(0, 0))
			break;
	}
	ck_assert_int_eq(renewals, LOSSES);
	ck_assert_int_eq(member.code, -ENOTCONN);
	ck_assert_int_eq(member.error.reason, GPREEMPT_LOST);
	ck_assert_int_eq(gpreempt_gang_resume(gang, NULL, NULL), -ENOTCONN);
}
END_TEST

#define VIEW "gpreempt-queues - version: 1.0\n# qid active\n"

START_TEST(verify)
{
	struct gpreempt_member members[COUNT];

	add_all();
	set_file(0, 5, "/sys/kernel/debug/gpreempt/pid/%d/queues",
		 VIEW "0 0\n1 0\n");
	set_file(1, 5, "/sys/kernel/debug/gpreempt/pid/%d/queues",
		 VIEW "0 0\n1 4\n");
	gpreempt_gang_suspend(gang, NULL, NULL);
	gpreempt_gang_verify(gang);
	gpreempt_gang_members(gang, members, COUNT);
	ck_assert_int_eq(members[2].verdict, GPREEMPT_VERIFIED);
	ck_assert_int_eq(members[1].verdict, GPREEMPT_CONTRADICTED);
	ck_assert_int_eq(members[0].verdict, GPREEMPT_NOT_CHECKED);
}
END_TEST

int main(void)
{
	TCase *tc = unit_case();

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, together);
	tcase_add_test(tc, empty);
	tcase_add_test(tc, come_and_go);
	tcase_add_test(tc, not_opened);
	tcase_add_test(tc, one_fails);
	tcase_add_test(tc, events);
	tcase_add_test(tc, lost_at_suspend);
	tcase_add_test(tc, lost_at_each_suspend);
	tcase_add_test(tc, lost_for_ever);
	tcase_add_test(tc, verify);
	return unit_run("gang");
}
