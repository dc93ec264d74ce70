// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several processes are suspended and resumed at once, each over a made-up driver of its
 * own: what a thread does to its process touches only that driver. And one that is paused,
 * without a session.
 */
#include <gpreempt/gang.h>
#include <gpreempt/view.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/ptrace.h>

#include "lib/preempt/gang.h"
#include "lib/preempt/pause.h"
#include "unit-pausable.h"

#define COUNT 3
#define FIRST 5000 /* PIDs */

#define NODES "/sys/class/kfd/kfd/topology/nodes/"

/* Process n has its queues 0 and 1 on GPU n + 1, of 3. */
static struct gp_loop loops[COUNT];
static struct gpreempt_gang *gang;
static struct gpreempt_error gang_err; /* error of the last process that was added */

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

static uint64_t cpu_time(void *be, pid_t pid)
{
	(void)be;
	(void)pid;
	return 0;
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
	.cpu_time = cpu_time,
	.is_root = is_root,
};

/* A file of process @i; its path is @before, the PID, and @after. */
static void gang_file(int i, const char *before, const char *after, const char *text)
{
	gp_loop_set_file(&loops[i], unit_text("%s/%d/%s", before, FIRST + i, after), text);
}

static void make_process(int i)
{
	gp_loop_init(&loops[i], FIRST + i);
	gang_file(i, "/proc", "status",
		  unit_text("Name:\tjob\nState:\tS\nTgid:\t%d\nTracerPid:\t0\nThreads:\t1\n",
			    FIRST + i));
	gang_file(i, "/proc", "stat",
		  "1 (a) S 1 2 3 0 -1 4 1 2 3 4 5 6 7 8 20 0 3 0 777 100 200\n");
	gang_file(i, "/sys/class/kfd/kfd/proc", "queues/", "");
	gang_file(i, "/sys/class/kfd/kfd/proc", "", "vram_1");
	gang_file(i, "/proc", "task/", "");
	gp_loop_set_file(&loops[i], "/sys/class/kfd/kfd/proc/", "");
	gp_loop_set_file(&loops[i], "/proc/self/ns/pid", "pid:[4026531836]");
	gp_loop_add_queue(&loops[i], 0)->gpu_id = i + 1;
	gp_loop_add_queue(&loops[i], 1)->gpu_id = i + 1;
}

static void gang_setup(void)
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

static void gang_teardown(void)
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

static void gang_add_all(void)
{
	int i;

	for (i = 0; i < COUNT; i++)
		ck_assert_int_eq(gpreempt_gang_add(gang, FIRST + i, GPREEMPT_METHOD_DEBUG,
						   &gang_err),
				 0);
}

static bool gang_held(int i, uint32_t qid)
{
	return gp_loop_queue(&loops[i], qid)->suspended;
}

TEST(together)
{
	struct gpreempt_gang_outcome out;
	struct gpreempt_member members[COUNT];
	int i;

	gang_add_all();
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
		ck_assert(gang_held(i, 0) && gang_held(i, 1));
	}
	/* None before all were ready: such a time would be negative. */
	for (i = 0; i < COUNT; i++)
		ck_assert_uint_lt(members[i].start_ns, 60 * NSEC_PER_SEC);
	ck_assert_int_eq(gpreempt_gang_resume(gang, NULL, &out), 0);
	ck_assert_uint_eq(out.done, 2 * COUNT);
	ck_assert(!gang_held(0, 0) && !gang_held(2, 1));
}

/* Members on the last GPU go first: one enters the driver after the other. */
TEST(in_order)
{
	struct gpreempt_member members[COUNT];
	int i;

	gang_add_all();
	for (i = 0; i < 100; i++) {
		gpreempt_gang_suspend(gang, NULL, NULL);
		gpreempt_gang_members(gang, members, COUNT);
		ck_assert_int_eq(members[0].pid, FIRST + COUNT - 1);
		ck_assert_uint_le(members[0].start_ns, members[1].start_ns);
		ck_assert_uint_le(members[1].start_ns, members[2].start_ns);
		gpreempt_gang_resume(gang, NULL, NULL);
	}
}

TEST(empty)
{
	struct gpreempt_gang_outcome out;

	ck_assert_int_eq(gpreempt_gang_suspend(gang, NULL, &out), 0);
	ck_assert_uint_eq(out.members, 0);
	ck_assert_uint_eq(out.span_ns, 0);
	ck_assert_uint_eq(gpreempt_gang_members(gang, NULL, 0), 0);
	gpreempt_gang_verify(gang);
}

TEST(come_and_go)
{
	struct gpreempt_gang_outcome out;

	gang_add_all();
	ck_assert_int_eq(gpreempt_gang_add(gang, FIRST + 1, GPREEMPT_METHOD_DEBUG, &gang_err),
			 -EEXIST);
	gpreempt_gang_suspend(gang, NULL, NULL);
	ck_assert_int_eq(gpreempt_gang_remove(gang, FIRST + 1), 0);
	ck_assert(gang_held(0, 0) && !gang_held(1, 0) && gang_held(2, 0));
	ck_assert_int_eq(gpreempt_gang_remove(gang, FIRST + 1), -ESRCH);
	ck_assert_int_eq(gpreempt_gang_resume(gang, NULL, &out), 0);
	ck_assert_uint_eq(out.members, 2);
}

TEST(not_opened)
{
	loops[1].debugged = true;
	ck_assert_int_eq(gpreempt_gang_add(gang, FIRST, GPREEMPT_METHOD_DEBUG, &gang_err), 0);
	ck_assert_int_eq(gpreempt_gang_add(gang, FIRST + 1, GPREEMPT_METHOD_DEBUG, &gang_err),
			 -EALREADY);
	ck_assert_int_eq(gang_err.reason, GPREEMPT_DEBUGGED);
	ck_assert_int_eq(gang_err.pid, FIRST + 1);
	ck_assert_uint_eq(gpreempt_gang_members(gang, NULL, 0), 1);
	loops[1].debugged = false;
}

TEST(one_fails)
{
	struct gpreempt_gang_outcome out;
	struct gpreempt_member members[COUNT];

	gang_add_all();
	gp_loop_fail(&loops[1], "suspend", 1, -EIO);
	ck_assert_int_eq(gpreempt_gang_suspend(gang, NULL, &out), -EIO);
	ck_assert_uint_eq(out.succeeded, COUNT - 1);
	ck_assert(gang_held(0, 0) && !gang_held(1, 0) && gang_held(2, 0));
	gpreempt_gang_members(gang, members, COUNT);
	ck_assert_int_eq(members[1].code, -EIO);
	ck_assert_int_eq(members[1].error.reason, GPREEMPT_SYSTEM);
	ck_assert_int_eq(members[0].code, 0);
	ck_assert_int_eq(gpreempt_gang_resume(gang, NULL, &out), 0);
}

/* A member that ends, one that is lost and renewed: both are reported. */
TEST(events)
{
	struct gpreempt_member members[COUNT];

	gang_add_all();
	gpreempt_gang_suspend(gang, NULL, NULL);
	gp_loop_stop(&loops[2], PTRACE_EVENT_EXIT << 16 | 0x57f);
	ck_assert_int_eq(unit_readable(gpreempt_gang_fd(gang)), POLLIN);
	gpreempt_gang_members(gang, members, COUNT);
	ck_assert_int_eq(members[0].events, GPREEMPT_EVENT_ENDED);
	ck_assert_int_eq(members[0].error.reason, GPREEMPT_ENDED);
	ck_assert_int_eq(gpreempt_gang_resume(gang, NULL, NULL), -ENOTCONN);
	gpreempt_gang_suspend(gang, NULL, NULL);
	gp_loop_disable(&loops[0]);
	unit_readable(gpreempt_gang_fd(gang));
	UNIT_WAIT(gang_held(0, 0) && gang_held(0, 1));
	gpreempt_gang_members(gang, members, COUNT);
	ck_assert(members[2].events & GPREEMPT_EVENT_LOST);
}

static atomic_bool complete;

/* The queue's GPU is known only after it was added. */
static void wait_for_gpu(struct gp_loop *loop, const char *call)
{
	(void)loop;
	while (!strcmp(call, "snapshot") && !atomic_load(&complete))
		usleep(1000);
}

/* Returns an index into KFD's list of nodes. */
static size_t last_gpu_of(pid_t pid)
{
	size_t i, gpu = 0;

	pthread_mutex_lock(&gang->lock);
	for (i = 0; i < gang->count; i++)
		if (gang->members[i]->public.pid == pid)
			gpu = gang->members[i]->last_gpu;
	pthread_mutex_unlock(&gang->lock);
	return gpu;
}

/* A queue on a later GPU: the next time its process goes first. */
TEST(new_queue)
{
	struct gpreempt_member members[COUNT];

	gang_add_all();
	gpreempt_gang_suspend(gang, NULL, NULL);
	gpreempt_gang_members(gang, members, COUNT);
	ck_assert_int_eq(members[0].pid, FIRST + 2);
	gpreempt_gang_resume(gang, NULL, NULL);
	loops[0].before = wait_for_gpu;
	gp_loop_add_queue(&loops[0], 2)->gpu_id = 3;
	atomic_store(&complete, true);
	unit_readable(gpreempt_gang_fd(gang));
	gpreempt_gang_members(gang, members, COUNT);
	ck_assert_int_eq(members[2].pid, FIRST);
	ck_assert_int_eq(members[2].events, GPREEMPT_EVENT_QUEUES);
	/* The member learns it after it has reported it, without a call. */
	UNIT_WAIT(last_gpu_of(FIRST) == last_gpu_of(FIRST + 2));
	gpreempt_gang_suspend(gang, NULL, NULL);
	gpreempt_gang_members(gang, members, COUNT);
	ck_assert_int_eq(members[0].pid, FIRST);
}

/* A program that has closed its stdin: 0 is a descriptor as any other. */
TEST(descriptor_0)
{
	int kept = dup(STDIN_FILENO);

	close(STDIN_FILENO);
	ck_assert_int_eq(gpreempt_gang_add(gang, FIRST, GPREEMPT_METHOD_DEBUG, &gang_err), 0);
	ck_assert_int_eq(gpreempt_gang_suspend(gang, NULL, NULL), 0);
	ck_assert(gang_held(0, 0));
	ck_assert_int_eq(gpreempt_gang_remove(gang, FIRST), 0);
	dup2(kept, STDIN_FILENO);
	close(kept);
}

static pid_t sender;
static atomic_int sender_first; /* so many members saw it go first */

static void look_at_sender(struct gp_loop *loop, const char *call)
{
	(void)loop;
	/*
	 * Other processes that the sender starts in that time, such as the helper of a pause, do
	 * not have this priority.
	 */
	if (!strcmp(call, "suspend"))
		atomic_fetch_add(&sender_first,
				 sched_getscheduler(sender) == (SCHED_FIFO | SCHED_RESET_ON_FORK));
}

static bool may_go_first(void)
{
	struct sched_param first = { .sched_priority = 1 }, ordinary = { 0 };

	return !sched_setscheduler(0, SCHED_FIFO, &first) &&
	       !sched_setscheduler(0, SCHED_OTHER, &ordinary);
}

/*
 * Members go first for a moment on one CPU, and their sender goes before them. Afterwards all
 * priorities are as before.
 */
TEST(one_cpu)
{
	cpu_set_t before, one;
	int i;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	for (i = 0; !CPU_ISSET(i, &before); i++)
		;
	CPU_SET(i, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	gang_add_all();
	sender = gettid();
	for (i = 0; i < COUNT; i++)
		loops[i].before = look_at_sender;
	ck_assert_int_eq(gpreempt_gang_suspend(gang, NULL, NULL), 0);
	ck_assert(gang_held(0, 0) && gang_held(1, 0) && gang_held(2, 0));
	ck_assert_int_eq(sched_getscheduler(0), SCHED_OTHER);
	ck_assert_int_eq(atomic_load(&sender_first) > 0, may_go_first());
	ck_assert_int_eq(sched_setaffinity(0, sizeof(before), &before), 0);
}

#define VIEW "gpreempt-queues - version: 1.0\n# qid active\n"

TEST(verify)
{
	struct gpreempt_member members[COUNT];

	gang_add_all();
	gang_file(0, "/sys/kernel/debug/gpreempt/pid", "queues", VIEW "0 0\n1 0\n");
	gang_file(1, "/sys/kernel/debug/gpreempt/pid", "queues", VIEW "0 0\n1 4\n");
	gpreempt_gang_suspend(gang, NULL, NULL);
	gpreempt_gang_verify(gang);
	gpreempt_gang_members(gang, members, COUNT);
	ck_assert_int_eq(members[2].verdict, GPREEMPT_VERIFIED);
	ck_assert_int_eq(members[1].verdict, GPREEMPT_CONTRADICTED);
	ck_assert_int_eq(members[0].verdict, GPREEMPT_NOT_CHECKED);
	ck_assert_int_eq(members[2].verified_by, GPREEMPT_BY_SLOTS);
	ck_assert_int_eq(members[1].verified_by, GPREEMPT_BY_SLOTS);
	ck_assert_int_eq(members[0].verified_by, GPREEMPT_BY_NOTHING);
}

TEST_FIXTURE(gang_setup, gang_teardown)

#define QUEUES_HEAD                        \
	"gpreempt-queues - version: 1.3\n" \
	"# qid gpu_id active slots suspended evicted state age_ms\n"

static struct gpreempt_gang_outcome out;
static struct gpreempt_member member;

static void pause_setup(void)
{
	unit_setup();
	gp_loop_add_queue(&loop, 0);
	gp_loop_add_queue(&loop, 1);
	unit_open_kfd(PID);
	set_view(PID, QUEUES_HEAD "0 0xf7bc 4 4 0 0 active 0\n1 0xf7bc 4 4 0 0 active 0\n");
	ck_assert_int_eq(gpreempt_gang_new(g, &gang), 0);
}

static void pause_teardown(void)
{
	gpreempt_gang_free(gang);
	/* No process of ours stays paused, whatever happened. */
	ck_assert_int_eq(loop.seized, 0);
	unit_teardown();
}

static int add_paused(void)
{
	return gpreempt_gang_add(gang, PID, GPREEMPT_METHOD_PAUSE, &gang_err);
}

static void look(void)
{
	ck_assert_uint_eq(gpreempt_gang_members(gang, &member, 1), 1);
}

TEST(pauses_and_resumes)
{
	int i;

	ck_assert_int_eq(add_paused(), 0);
	ck_assert(!strstr(loop.trace, "seize"));
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(gpreempt_gang_suspend(gang, NULL, &out), 0);
		ck_assert_int_eq(loop.evicted, 1);
		ck_assert_uint_eq(out.requested, 2);
		ck_assert_uint_eq(out.done, 2);
		ck_assert_uint_eq(out.succeeded, 1);
		look();
		ck_assert_int_eq(member.method, GPREEMPT_METHOD_PAUSE);
		ck_assert_uint_gt(member.outcome.ioctl_ns, 0);
		ck_assert_int_eq(member.outcome.slots_ns, GPREEMPT_UNKNOWN);
		ck_assert_int_eq(gpreempt_gang_resume(gang, NULL, &out), 0);
		ck_assert_int_eq(loop.evicted, 0);
		ck_assert_uint_eq(out.done, 2);
	}
	/* No debug session was ever asked for. */
	ck_assert(!strstr(loop.trace, "enable"));
}

/* The process runs at the end, however it comes. */
TEST_EACH(runs_at_the_end, 2)
{
	ck_assert_int_eq(add_paused(), 0);
	gpreempt_gang_suspend(gang, NULL, &out);
	ck_assert_int_eq(loop.evicted, 1);
	if (_i) {
		ck_assert_int_eq(gpreempt_gang_remove(gang, PID), 0);
	} else {
		gpreempt_gang_free(gang);
		gang = NULL;
	}
	ck_assert_int_eq(loop.evicted, 0);
}

/* The caller must know that the process is still paused. */
TEST(cannot_be_unpaused)
{
	ck_assert_int_eq(add_paused(), 0);
	gpreempt_gang_suspend(gang, NULL, &out);
	gp_loop_fail(&loop, "seize", 0, -EPERM);
	ck_assert_int_ne(gpreempt_gang_resume(gang, NULL, &out), 0);
	ck_assert_uint_eq(out.done, 0);
	ck_assert_int_ne(gpreempt_gang_remove(gang, PID), 0);
	ck_assert_int_eq(loop.evicted, 1);
}

static const uint32_t ids[] = { 0 };
static const struct gpreempt_filter parts[] = {
	{ .ids = ids, .n_ids = 1 },
	{ .by_priority = true, .priority_max = 7 },
	{ .gpu_ids = ids, .n_gpu_ids = 1 },
};

TEST_EACH(not_for_a_part, ARRAY_SIZE(parts))
{
	ck_assert_int_eq(add_paused(), 0);
	ck_assert_int_eq(gpreempt_gang_suspend(gang, &parts[_i], &out), -EINVAL);
	look();
	ck_assert_int_eq(member.error.reason, GPREEMPT_PAUSE_WHOLE);
	ck_assert_int_eq(loop.evicted, 0);
	gpreempt_gang_suspend(gang, NULL, &out);
	ck_assert_int_eq(gpreempt_gang_resume(gang, &parts[_i], &out), -EINVAL);
	ck_assert_int_eq(loop.evicted, 1);
}

/* Its end is seen while nothing is asked for, paused or not. */
TEST_EACH(ends, 2)
{
	ck_assert_int_eq(add_paused(), 0);
	if (_i)
		gpreempt_gang_suspend(gang, NULL, &out);
	gp_loop_end_process(&loop);
	unit_readable(gpreempt_gang_fd(gang));
	look();
	ck_assert_int_eq(member.events, GPREEMPT_EVENT_ENDED);
	ck_assert_int_eq(member.error.reason, GPREEMPT_ENDED);
	unit_clear_trace();
	ck_assert_int_eq(gpreempt_gang_remove(gang, PID), 0);
	ck_assert(!strstr(loop.trace, "unpause"));
}

TEST(no_such_process_or_method)
{
	ck_assert_int_eq(gpreempt_gang_add(gang, 77, GPREEMPT_METHOD_PAUSE, &gang_err), -ESRCH);
	ck_assert_int_eq(gang_err.reason, GPREEMPT_NO_PROCESS);
	ck_assert_int_eq(gpreempt_gang_add(gang, PID, GPREEMPT_METHODS, &gang_err), -EINVAL);
	ck_assert_int_eq(add_paused(), 0);
	ck_assert_int_eq(add_paused(), -EEXIST);
	ck_assert_int_eq(gpreempt_gang_add(gang, PID, GPREEMPT_METHOD_DEBUG, &gang_err), -EEXIST);
}

static const char *off(struct gp_loop *l)
{
	return l->evicted ? QUEUES_HEAD "0 0xf7bc 0 4 0 1 paused 0\n"
					"1 0xf7bc 0 4 0 1 paused 0\n" :
			    QUEUES_HEAD "0 0xf7bc 4 4 0 0 active 0\n"
					"1 0xf7bc 4 4 0 0 active 0\n";
}

/* The time when the slots became empty is there, and the verdict. */
TEST_EACH(slots, 2)
{
	loop.view = off;
	if (_i)
		ck_assert_int_eq(gpreempt_gang_sample_slots(gang, true), 0);
	ck_assert_int_eq(add_paused(), 0);
	if (!_i)
		ck_assert_int_eq(gpreempt_gang_sample_slots(gang, true), 0);
	ck_assert_int_eq(gpreempt_gang_suspend(gang, NULL, &out), 0);
	gpreempt_gang_verify(gang);
	look();
	ck_assert_int_gt(member.outcome.slots_ns, 0);
	ck_assert_int_gt(member.outcome.resolution_ns, 0);
	ck_assert_int_eq(member.verdict, GPREEMPT_VERIFIED);
	gpreempt_gang_resume(gang, NULL, &out);
	gpreempt_gang_verify(gang);
	look();
	ck_assert_int_eq(member.verdict, GPREEMPT_NOT_CHECKED);
	/* A pause that fails has no slots, and ends all the same. */
	gp_loop_fail(&loop, "pause", 2, -EIO);
	ck_assert_int_eq(gpreempt_gang_suspend(gang, NULL, &out), -EIO);
	look();
	ck_assert_int_eq(member.outcome.slots_ns, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(gpreempt_gang_sample_slots(gang, false), 0);
	gpreempt_gang_suspend(gang, NULL, &out);
	look();
	ck_assert_int_eq(member.outcome.slots_ns, GPREEMPT_UNKNOWN);
}

TEST(slots_without_the_module)
{
	set_view(PID, NULL);
	ck_assert_int_eq(add_paused(), 0);
	ck_assert_int_eq(gpreempt_gang_sample_slots(gang, true), -ENODATA);
	look();
	ck_assert_int_eq(member.error.reason, GPREEMPT_NO_MODULE);
}

#define NOTHING GPREEMPT_BY_NOTHING

static const struct {
	const char *row;
	enum gpreempt_verdict verdict;
	enum gpreempt_verified_by by;
} rows[] = {
	{ "0 0xf7bc 0 4 0 1 paused 0\n", GPREEMPT_VERIFIED, GPREEMPT_BY_SLOTS },
	{ "0 0xf7bc 1 4 0 1 paused 0\n", GPREEMPT_CONTRADICTED, GPREEMPT_BY_SLOTS },
	{ "0 0xf7bc 1 4 0 - paused 0\n", GPREEMPT_CONTRADICTED, GPREEMPT_BY_SLOTS },
	/* The driver has not even taken it off. */
	{ "0 0xf7bc 0 4 0 0 active 0\n", GPREEMPT_CONTRADICTED, NOTHING },
	{ "0 0xf7bc 1 4 0 1 paused 9\n", GPREEMPT_NOT_CHECKED, NOTHING },
	{ "0 0xf7bc 0 4 0 1 paused 9\n", GPREEMPT_NOT_CHECKED, NOTHING },
	{ "0 0xf7bc - 4 0 1 paused 0\n", GPREEMPT_NOT_CHECKED, NOTHING },
	{ "0 0xf7bc 0 4 0 - paused 0\n", GPREEMPT_NOT_CHECKED, NOTHING },
	{ "", GPREEMPT_NOT_CHECKED, NOTHING },
};

TEST_EACH(verdicts, ARRAY_SIZE(rows))
{
	size_t queues = 77;
	enum gpreempt_verified_by by;

	set_view(PID, unit_text(QUEUES_HEAD "%s", rows[_i].row));
	ck_assert_int_eq(gp_pause_verify(g, PID, &queues, &by), rows[_i].verdict);
	ck_assert_int_eq(by, rows[_i].by);
	ck_assert_uint_eq(queues, *rows[_i].row ? 1 : 0);
}

TEST_FIXTURE(pause_setup, pause_teardown)
