// SPDX-License-Identifier: GPL-2.0-only
/*
 * guard's poller, with processes of ours whose memory it reads: orders follow work. Its
 * looks at its targets; a process whose memory never answers, which delays no other, and
 * does not keep guard from being killed.
 */
#include <dirent.h>
#include <linux/userfaultfd.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "fake/guard.h"
#include "hold/run-dir.h"
#include "lib/preempt/policy.h"
#include "unit-fuse.h"
#include "unit-host.h"

#define PAGE 4096

/* All processes have it at the same address. */
struct memory {
	uint64_t read; /* the indices of the online process */
	uint64_t written;
	atomic_int answer; /* have the page answer */
	atomic_int ready;
};

static struct memory *memory;
static char *page;
static pid_t good, stuck;

/* A child that ends with this process, and what one does that has no work. */
static pid_t start_child(void (*work)(void))
{
	pid_t parent = getpid(), child = fork();

	ck_assert_int_ge(child, 0);
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		work();
	_exit(1);
}

static void do_nothing(void)
{
	for (;;)
		pause();
}

/* Add a process that is online, and has its indices at these addresses. */
static void add_online(pid_t pid, const char *comm, uintptr_t read_addr, uintptr_t write_addr)
{
	world_add(pid, comm, "/");
	world_queues(pid, unit_text(QUEUES "0 0xf7bc compute-aql 0x%lx 0x%lx 0x%lx 4096\n",
				    read_addr, write_addr, (uintptr_t)page));
}

static void add_offline(pid_t pid)
{
	world_add(pid, "train", "/");
	world_queues(pid, QUEUES "0 0xf7bc compute-aql 0x8 0x10 0x40 4096\n");
}

/* guard has an online process, and 200, which is offline. */
static void poll_setup(void)
{
	guard_setup();
	memory = unit_share(sizeof(*memory));
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(page, MAP_FAILED);
	good = start_child(do_nothing);
	name_online("comm:serve");
	name_offline("comm:train");
	add_online(good, "serve", (uintptr_t)&memory->read, (uintptr_t)&memory->written);
	add_offline(200);
}

static void end_child(pid_t *child)
{
	if (*child)
		unit_end(*child);
	*child = 0;
}

static void poll_teardown(void)
{
	atomic_store(&memory->answer, 1);
	end_child(&stuck);
	end_child(&good);
	guard_poll_stop(&guard);
	/* The page answers now, so its thread ends, too. */
	UNIT_WAIT(!guard.turn.threads);
	guard_teardown();
	munmap(page, PAGE);
}

/* Start the poller, when 200 is a target. */
static void start_guard(void)
{
	look_until("process 200 is offline");
	ck_assert_int_eq(guard_poll_start(&guard), 0);
	/* Work from now on is an arrival, and was not there before. */
	UNIT_WAIT(guard.online[0].looked);
}

static void look_until_there_are(const uint64_t *count, uint64_t n)
{
	uint64_t end = unit_soon();

	while (*count < n) {
		ck_assert_msg(shr_now_ns() < end, "no order after work: %s", output());
		guard_poll_tend(&guard);
		look(1);
	}
}

/* Until there were so many, since the start. */
static void look_until_suspends(uint64_t n)
{
	look_until_there_are(&guard.figures.suspends, n);
}

static void look_until_resumes(uint64_t n)
{
	look_until_there_are(&guard.figures.resumes[GPREEMPT_POLICY_IDLE], n);
}

/* Work comes and goes: an order each time, with the time of the arrival. */
TEST(orders)
{
	const int64_t *ns;

	args.verbose = 1;
	start_guard();
	memory->written = 1;
	look_until_suspends(1);
	ck_assert_uint_eq(entity_of(0)->held, 1);
	ck_assert_uint_ne(guard.offline[0].held_since_ns, 0);
	memory->read = 1;
	look_until_resumes(1);
	ck_assert_uint_eq(entity_of(0)->held, 0);
	ck_assert_uint_eq(guard.offline[0].held_since_ns, 0);
	ck_assert_uint_gt(guard.offline[0].times.held_ns, 0);
	memory->written = 2;
	look_until_suspends(2);
	ck_assert_msg(guard.figures.samples == 2, "%zu: %s", guard.figures.samples, output());
	ns = guard.figures.sample[0].ns;
	ck_assert_int_gt(ns[GUARD_TO_IOCTL], 0);
	ck_assert_int_eq(ns[GUARD_TO_SUSPENDED], ns[GUARD_TO_IOCTL] + 10000);
	ck_assert_int_eq(ns[GUARD_TO_SLOTS], ns[GUARD_TO_IOCTL] + 5000);
	ck_assert_uint_eq(printed("suspended 200: arrival, 2 of 2 queues"), 2);
	ck_assert_uint_eq(printed("resumed 200: idle, 2 of 2 queues"), 1);
	ck_assert_uint_gt(atomic_load(&guard.polls), 0);
}

/* A poller without pauses sleeps between looks too, while nothing is left to be suspended. */
TEST(rests_while_held)
{
	uint64_t polls, from;

	guard.poll_ns = NSEC_PER_MSEC;
	guard.spin_ns = UINT64_MAX;
	start_guard();
	memory->written = 1;
	look_until_suspends(1);
	from = shr_now_ns();
	polls = atomic_load(&guard.polls);
	shr_sleep_ns(20 * NSEC_PER_MSEC);
	polls = atomic_load(&guard.polls) - polls;
	ck_assert_uint_le(polls, (shr_now_ns() - from) / NSEC_PER_MSEC + 2);
	memory->read = 1;
	look_until_resumes(1);
}

/* Begin and end of its work are events, in their order. */
TEST(work_events)
{
	const char *busy;

	args.json = args.verbose = 1;
	ck_assert_int_eq(guard_work_open(&guard), 0);
	start_guard();
	memory->written = 1;
	look_until_suspends(1);
	memory->read = 1;
	look_until_resumes(1);
	guard_work_tell(&guard);
	ck_assert_uint_eq(printed("{\"event\":\"busy\",\"t_us\":"), 1);
	busy = strstr(output(), "\"busy\"");
	ck_assert_ptr_nonnull(strstr(busy, "\"event\":\"idle\""));
	ck_assert_uint_eq(printed(unit_text("\"pid\":%d}\n", good)), 2);
	/* Notes without room are counted, and reported like lost lines. */
	forget_printed();
	pthread_mutex_lock(&guard.lock);
	guard.work->n = GUARD_WORKS;
	guard_work_note(&guard, good, GUARD_PULSE, shr_now_ns());
	guard.work->n = 0;
	pthread_mutex_unlock(&guard.lock);
	guard_work_tell(&guard);
	ck_assert_str_eq(output(), "{\"event\":\"dropped\",\"lines\":2}\n");
}

/* Online ends in the middle of its work: offline runs. */
TEST(online_ends)
{
	start_guard();
	memory->written = 1;
	look_until_suspends(1);
	world_remove(good);
	look_until_resumes(1);
}

/* A suspend that fails is reported once, and tried again. */
TEST(fails)
{
	fake_worker = WORKER_CANNOT;
	start_guard();
	memory->written = 1;
	look_until("process 200 could not be suspended: suspending failed");
	while (guard.figures.failures < 3)
		look(1);
	ck_assert_uint_eq(printed("could not be suspended"), 1);
	ck_assert_uint_eq(guard.figures.suspends, 0);
}

/* Descriptors of a thread; SIZE_MAX: one is no eventfd, or goes away meanwhile. */
static size_t count_eventfds(const char *tid)
{
	char path[320], link[64];
	struct dirent *entry;
	ssize_t len;
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/self/task/%s/fd", tid);
	dir = opendir(path);
	if (!dir && errno == ENOENT) /* the thread has ended */
		return GUARD_WAKES;
	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		len = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);
		link[len > 0 ? len : 0] = '\0';
		if (strcmp(link, "anon_inode:[eventfd]")) {
			n = SIZE_MAX;
			break;
		}
		n++;
	}
	closedir(dir);
	return n;
}

/* Threads that read memory have only the workers' eventfds open. */
TEST(own_descriptors)
{
	char name[32];
	struct dirent *entry;
	size_t threads = 0;
	DIR *dir;

	start_guard();
	UNIT_WAIT(unit_threads(getpid(), "guard-"));
	dir = opendir("/proc/self/task");
	ck_assert_ptr_nonnull(dir);
	/* A thread has its name before its first look. */
	while ((entry = readdir(dir))) {
		shr_read_start(name, sizeof(name), "/proc/self/task/%s/comm", entry->d_name);
		if (strncmp(name, "guard-", 6))
			continue;
		threads++;
		UNIT_WAIT(count_eventfds(entry->d_name) == GUARD_WAKES);
	}
	closedir(dir);
	ck_assert_uint_ge(threads, 1);
	/* A worker that is made later is woken, too. */
	add_offline(201);
	look_until("process 201 is offline");
	memory->written = 1;
	look_until_suspends(2);
}

/* Processes that are made targets in one look. */
#define AT_ONCE 8

/* The other targets have to be looked after, too. */
TEST(few_at_once)
{
	pid_t pid;

	for (pid = 201; pid <= 200 + AT_ONCE; pid++)
		add_offline(pid);
	look(1);
	ck_assert_uint_eq(guard.n_offline, AT_ONCE);
	look(1);
	ck_assert_uint_eq(guard.n_offline, AT_ONCE + 1);
}

/*
 * Its worker has not ended yet, and has its lock: it is not tried before, which
 * would be a failure that keeps guard from it for a while.
 */
TEST(worker_still_there)
{
	struct gpreempt_target target;

	look_until("process 200 is offline");
	target = guard.offline[0].target;
	ck_assert_int_eq(kill(guard.offline[0].worker->child, SIGSTOP), 0);
	guard.config.n[0] = 0;
	look(1);
	ck_assert_uint_eq(guard.n_offline, 0);
	ck_assert(guard_is_going(&guard, 200));
	guard.config.n[0] = 1;
	look(2);
	ck_assert(guard_is_going(&guard, 200));
	ck_assert(!guard_is_going(&guard, 201));
	ck_assert(guard_backoff_over(&guard, &target));
	ck_assert_int_eq(kill(guard.going[0]->child, SIGCONT), 0);
	look_until_times("process 200 is offline", 2);
}

/* Returns the policy's pause after that failure of an order. */
static uint64_t pause_after(enum gpreempt_reason reason, bool suspend)
{
	struct guard_offline *o = &guard.offline[0];
	struct gpreempt_policy_entity *entity = entity_of(0);
	struct guard_result result = {
		.pid = 200,
		.suspend = suspend,
		.nodes = 1,
		.code = -EIO,
		.error = { .code = -EIO, .reason = reason },
	};
	uint64_t now = shr_now_ns();

	entity->held = suspend;
	entity->retry = 0;
	ck_assert(guard_channel_give(o->worker->channel, &result));
	guard_take_results(&guard);
	ck_assert_uint_gt(entity->retry, now);
	return entity->retry - now;
}

/* Each try after a hang costs the driver's 9 s and a reset, other tries nothing. */
TEST(tried_again)
{
	look_until("process 200 is offline");
	ck_assert_uint_ge(pause_after(GPREEMPT_HANG, true), 10 * NSEC_PER_SEC);
	ck_assert_uint_lt(pause_after(GPREEMPT_SYSTEM, true), 5 * NSEC_PER_SEC);
	ck_assert_uint_lt(pause_after(GPREEMPT_HANG, false), 5 * NSEC_PER_SEC);
	ck_assert_uint_eq(guard.figures.failures, 3);
}

/* A word that is mistyped protects nothing: that is reported once, some time after the start. */
TEST(unmatched)
{
	name_online("comm:typo");
	guard.figures.start_ns = shr_now_ns();
	look(1);
	ck_assert_uint_eq(printed("no process has matched"), 0);
	guard.figures.start_ns = 0;
	look(2);
	ck_assert_uint_eq(printed("no process has matched --online comm:typo so far"), 1);
	ck_assert_uint_eq(printed("no process has matched"), 1);
}

/* An index at address 0 is none that could be read. */
TEST(no_address)
{
	world_remove(good);
	world_add(100, "serve", "/");
	world_queues(100, QUEUES "0 0xf7bc compute-aql 0x0 0x2000 0x3000 4096\n"
				 "1 0xf7bc compute-aql 0x1000 0x0 0x3000 4096\n"
				 "2 0xf7bc compute-aql 0x1000 0x2000 0x0 4096\n"
				 "3 0xf7bc compute-aql 0x1000 0x2000 0x3000 0\n"
				 "4 0xf7bc compute-aql 0x1000 0x2000 0x3000 4096\n");
	look_until("process 100 is online");
	look(1);
	ck_assert_uint_eq(guard.online[0].n, 1);
	ck_assert_uint_eq(guard.online[0].queue[0].qid, 4);
}

/* A read of its memory that takes longer than a second is one without an answer. */
TEST(silent)
{
	uint64_t *since;

	look_until(" is online");
	since = &guard.online[0].sight->since_ns;
	unit_frozen_ns = shr_now_ns();
	*since = unit_frozen_ns - GUARD_SILENT_NS;
	guard_targets_look(&guard);
	ck_assert_uint_eq(printed("does not answer"), 0);
	--*since;
	guard_targets_look(&guard);
	ck_assert_uint_eq(printed("does not answer: its work is not seen"), 1);
	*since = 0;
	guard_targets_look(&guard);
	ck_assert_uint_eq(printed("answers again"), 1);
	unit_frozen_ns = 0;
}

/* The worker has to see both orders of a short piece of work, however busy the host is. */
static void linger_long(void)
{
	struct gpreempt_policy_options slowly = {
		.size = sizeof(slowly),
		.linger_ns = NSEC_PER_SEC,
		.period_ns = 60 * NSEC_PER_SEC,
		.window_ns = 60 * NSEC_PER_SEC,
	};

	gpreempt_policy_free(guard.policy);
	ck_assert_int_eq(gpreempt_policy_new(&slowly, shr_now_ns(), &guard.policy), 0);
	guard_set_tenants();
	guard.poll_ns = 20 * NSEC_PER_MSEC;
}

/* Work that came and was done between two looks is an arrival, too. */
TEST(came_and_went)
{
	linger_long();
	start_guard();
	memory->read = 1;
	memory->written = 1;
	look_until_suspends(1);
	look_until_resumes(1);
}

/* Guard ends if the polling thread or the stand-in cannot start. */
TEST(no_thread)
{
	int nth;

	for (nth = 1; nth <= 2; nth++) {
		unit_thread_fails = nth;
		ck_assert_int_eq(guard_poll_start(&guard), -EAGAIN);
		ck_assert_int_eq(unit_thread_fails, 0);
		UNIT_WAIT(!guard.turn.threads);
	}
}

#define TRIES 500

/* Wait for a step of the test. */
static void await(int answer)
{
	while (atomic_load(&memory->answer) < answer)
		shr_sleep_ns(NSEC_PER_MSEC);
}

/*
 * A page of ours that the kernel waits for, until we answer; and once more, for an answer that
 * shows a packet which is done.
 */
static void never_answer(void)
{
	static const uint64_t done[PAGE / 8] = { 1, 1 };
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range = { .start = (uintptr_t)page, .len = PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	struct uffdio_zeropage zero = {
		.range = { .start = (uintptr_t)page, .len = PAGE },
	};
	struct uffdio_copy copy = {
		.dst = (uintptr_t)page,
		.src = (uintptr_t)done,
		.len = PAGE,
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &reg) < 0) {
		atomic_store(&memory->ready, -errno);
		do_nothing();
	}
	atomic_store(&memory->ready, 1);
	await(1);
	ioctl(fd, UFFDIO_ZEROPAGE, &zero);
	await(2);
	madvise(page, PAGE, MADV_DONTNEED);
	await(3);
	ioctl(fd, UFFDIO_COPY, &copy);
	do_nothing();
}

/* Take the lock, as a server's begin does. This waits for ever if a read has it. */
static void begin(void)
{
	pthread_mutex_lock(&guard.lock);
	guard.changed = true;
	pthread_mutex_unlock(&guard.lock);
}

static int start_stuck(void)
{
	stuck = start_child(never_answer);
	UNIT_WAIT(atomic_load(&memory->ready));
	add_online(stuck, "serve", (uintptr_t)page, (uintptr_t)page + 8);
	if (atomic_load(&memory->ready) < 0)
		unit_skip("start_stuck", "no userfaultfd here: %s",
			  strerror(-atomic_load(&memory->ready)));
	return atomic_load(&memory->ready);
}

static unsigned int count_stuck(void)
{
	unsigned int n;

	pthread_mutex_lock(&guard.lock);
	n = guard.turn.stuck;
	pthread_mutex_unlock(&guard.lock);
	return n;
}

TEST(never_answers)
{
	size_t i;

	if (start_stuck() < 0)
		return;
	start_guard();
	/* The poller sees the other process's work, while that read does not return. */
	look_until("does not answer: its work is not seen");
	/* A busy host may make another read slow, for a moment. */
	UNIT_WAIT(count_stuck() == 1);
	memory->written = 1;
	look_until_suspends(1);
	for (i = 0; i < TRIES; i++) {
		begin();
		shr_sleep_ns(NSEC_PER_MSEC / 10);
	}
	UNIT_WAIT(count_stuck() == 1);
	memory->read = 1;
	look_until_resumes(1);
	/* The memory answers after all: the thread that waited is the stand-in. */
	atomic_store(&memory->answer, 1);
	look_until("answers again");
	/* The slow read has returned; its thread comes back a little later. */
	UNIT_WAIT(!count_stuck());
	/* There is no thread for each look: two, the stand-in, and those of slow reads. */
	ck_assert_uint_lt(guard.turn.threads, GUARD_STUCK);
}

/* A parked process whose memory does not answer runs again: it may have work. */
TEST(parked_never_answers)
{
	struct gpreempt_policy_options park = guard.policy->options;
	const struct gpreempt_policy_entity *e;

	if (start_stuck() < 0)
		return;
	guard.config.figures.park_ns = park.park_ns = 1;
	ck_assert_int_eq(gp_policy_change(guard.policy, &park), 0);
	world_remove(200);
	world_add(stuck, "train", "/");
	world_queues(stuck, unit_text("# qid gpu_id type waves rptr wptr unit rptr_addr wptr_addr "
				      "ring ring_size\n0 0xf7bc compute-aql 0 16 16 dwords 0x%lx "
				      "0x%lx 0x1000 4096\n",
				      (uintptr_t)page, (uintptr_t)page + 8));
	look_until(unit_text("process %d is offline\n", stuck));
	ck_assert_int_eq(guard_poll_start(&guard), 0);
	e = &guard.policy->entity[guard_find_offline(&guard, stuck)->entity];
	look_until_suspends(1);
	ck_assert(e->parked);
	UNIT_WAIT(!e->parked && !e->held);
}

/* Work that only a late read saw is an arrival, too. */
TEST(late_read)
{
	if (start_stuck() < 0)
		return;
	atomic_store(&memory->answer, 1);
	linger_long();
	start_guard();
	UNIT_WAIT(guard.n_online == 2 && guard.online[1].looked);
	atomic_store(&memory->answer, 2);
	UNIT_WAIT(count_stuck() == 1);
	atomic_store(&memory->answer, 3);
	look_until_suspends(1);
	look_until_resumes(1);
}

/* The process stops being a target in the middle of that read. */
TEST(dropped_while_read)
{
	if (start_stuck() < 0)
		return;
	start_guard();
	look_until("does not answer");
	world_remove(stuck);
	look(5);
	ck_assert_uint_eq(guard.n_online, 1);
	memory->written = 1;
	look_until_suspends(1);
}

static char fuse_path[] = "/tmp/gpreempt-fuse-XXXXXX";
static atomic_int *asked; /* the file was read from */

/* The server of a file that never answers a read; 0: there is no FUSE for us. */
static pid_t mount_fuse(void)
{
	pid_t server;
	int fd;

	ck_assert_int_ge(mkstemp(fuse_path), 0);
	asked = unit_share(sizeof(*asked));
	fd = unit_fuse_mount(fuse_path, S_IFREG | 0644, 0);
	if (fd < 0)
		return 0;
	server = fork();
	if (!server) {
		unit_fuse_serve_file(fd, PAGE, asked);
		_exit(0);
	}
	close(fd);
	return server;
}

/* Make an online process whose indices are in that file. */
static void map_fuse(void)
{
	int fd = open(fuse_path, O_RDONLY);
	struct stat st;

	/* Let the kernel know the file's size. */
	if (fd < 0 || fstat(fd, &st) < 0 ||
	    mmap(page, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) != page)
		_exit(1);
	atomic_store(&memory->ready, 1);
	do_nothing();
}

static int connect_guard(void)
{
	struct sockaddr_un to = { AF_UNIX, GUARD_SOCKET };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int ret = connect(fd, (struct sockaddr *)&to, sizeof(to)) ? -errno : 0;

	close(fd);
	return ret;
}

/* A guard with its socket and a lock, which reads a page that never answers. */
static void be_guard(int ready)
{
	struct guard_server *server;

	ck_assert_int_eq(guard_serve_start(&guard, &server), 0);
	start_guard();
	look_until("does not answer");
	ck_assert_int_eq(write(ready, "x", 1), 1);
	do_nothing();
}

/*
 * Guard is killed, and one of its threads cannot be: its socket refuses, and
 * the locks of its targets are free.
 */
TEST(killed_while_read)
{
	int ready[2], lock;
	pid_t server = mount_fuse(), killed;
	char c;

	if (!server) {
		unit_skip("killed_while_read", "no FUSE here");
		unlink(fuse_path);
		return;
	}
	stuck = start_child(map_fuse);
	UNIT_WAIT(atomic_load(&memory->ready));
	add_online(stuck, "serve", (uintptr_t)page, (uintptr_t)page + 8);
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	killed = fork();
	ck_assert_int_ge(killed, 0);
	if (!killed)
		be_guard(ready[1]);
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	ck_assert_int_eq(atomic_load(asked), 1);
	ck_assert_int_eq(connect_guard(), 0);
	lock = hold_lock(200);
	ck_assert_int_eq(lock, -EWOULDBLOCK);

	kill(killed, SIGKILL);
	UNIT_WAIT(connect_guard() == -ECONNREFUSED);
	UNIT_WAIT((lock = hold_lock(200)) >= 0);
	close(lock);
	/* Else this has shown nothing. */
	ck_assert_int_eq(waitpid(killed, NULL, WNOHANG), 0);
	ck_assert_uint_ge(unit_threads(killed, ""), 1);

	/* Its end is not read before: the thread is. */
	ck_assert_int_eq(read(ready[0], &c, 1), 0);
	umount2(fuse_path, MNT_FORCE | MNT_DETACH);
	ck_assert_int_eq(waitpid(killed, NULL, 0), killed);
	unit_end(server);
	unlink(fuse_path);
}

TEST_FIXTURE(poll_setup, poll_teardown)
