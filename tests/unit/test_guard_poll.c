// SPDX-License-Identifier: GPL-2.0-only
/*
 * guard's poller, with processes of ours whose memory it reads: orders follow
 * work, and a process whose memory never answers delays no other.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "agent/holder-lock.h"
#include "guard/serve.h"
#include "fake/guard.h"
#include "shared/clock.h"
#include "shared/macro.h"

#define PAGE 4096
#define QUEUES "# qid gpu_id type rptr_addr wptr_addr ring ring_size\n"
#define TRIES 500

/* Both processes have it at the same address. */
struct memory {
	uint64_t read;
	uint64_t written;
	atomic_int answer;	/* have the page answer */
	atomic_int ready;
};

static struct memory *memory;
static char *page;		/* that does not answer, in the child */
static pid_t good, stuck;

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

/* A page of ours that the kernel waits for, until we answer. */
static void never_answer(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range = { .start = (uintptr_t)page, .len = PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	struct uffdio_zeropage zero = {
		.range = { .start = (uintptr_t)page, .len = PAGE },
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 ||
	    ioctl(fd, UFFDIO_REGISTER, &reg) < 0) {
		atomic_store(&memory->ready, -errno);
		do_nothing();
	}
	atomic_store(&memory->ready, 1);
	while (!atomic_load(&memory->answer))
		shr_sleep_ns(NSEC_PER_MSEC);
	ioctl(fd, UFFDIO_ZEROPAGE, &zero);
	do_nothing();
}

static void add_online(pid_t pid, const char *comm, uintptr_t read_addr,
		       uintptr_t write_addr)
{
	char text[256];

	world_add(pid, comm, "/");
	snprintf(text, sizeof(text), QUEUES "0 0xf7bc compute-aql 0x%lx 0x%lx "
		 "0x%lx 4096\n", read_addr, write_addr, (uintptr_t)page);
	world_queues(pid, text);
}

static void setup(void)
{
	guard_setup();
	guard.common->late_ns = NSEC_PER_SEC;
	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(memory != MAP_FAILED && page != MAP_FAILED);
	good = start_child(do_nothing);
	args.online_words.word[args.online_words.n++] =
		"comm:serve";
	args.offline_words.word[args.offline_words.n++] =
		"comm:train";
	add_online(good, "serve", (uintptr_t)&memory->read,
		   (uintptr_t)&memory->written);
	world_add(200, "train", "/");
	world_queues(200, QUEUES "0 0xf7bc compute-aql 0x8 0x10 0x40 4096\n");
}

static void end_child(pid_t *child)
{
	if (*child) {
		kill(*child, SIGKILL);
		waitpid(*child, NULL, 0);
	}
	*child = 0;
}

static void teardown(void)
{
	atomic_store(&memory->answer, 1);
	end_child(&stuck);
	end_child(&good);
	guard_poll_stop(&guard);
	/* The page answers now, so its thread ends, too. */
	while (guard.turn.threads)
		shr_sleep_ns(NSEC_PER_MSEC);
	guard_teardown();
	munmap(memory, PAGE);
	munmap(page, PAGE);
}

static void start_guard(void)
{
	look_until("process 200 is offline");
	ck_assert_int_eq(guard_poll_start(&guard), 0);
	/* What comes now is an arrival, and was not there before. */
	while (!guard.online[0].looked)
		shr_sleep_ns(NSEC_PER_MSEC);
}

static void look_until_suspends(uint64_t n)
{
	uint64_t end = shr_now_ns() + 20 * NSEC_PER_SEC;

	while (guard.figures.suspends < n) {
		ck_assert_msg(shr_now_ns() < end, "no order after work came: "
			      "%s", output());
		guard_poll_tend(&guard);
		look(1);
	}
}

static void look_until_resumes(uint64_t n)
{
	uint64_t end = shr_now_ns() + 20 * NSEC_PER_SEC;

	while (guard.figures.resumes[GPREEMPT_POLICY_IDLE] < n) {
		ck_assert_msg(shr_now_ns() < end, "not resumed: %s", output());
		guard_poll_tend(&guard);
		look(1);
	}
}

/* Work comes and goes: an order each time, with the time of the arrival. */
START_TEST(orders)
{
	args.verbose = 1;
	start_guard();
	memory->written = 1;
	look_until_suspends(1);
	ck_assert_uint_eq(guard.offline[0].want, 1);
	ck_assert_uint_ne(guard.offline[0].held_since_ns, 0);
	memory->read = 1;
	look_until_resumes(1);
	ck_assert_uint_eq(guard.offline[0].want, 0);
	ck_assert_uint_eq(guard.offline[0].held_since_ns, 0);
	ck_assert_uint_gt(guard.offline[0].held_ns, 0);
	memory->written = 2;
	look_until_suspends(2);
	ck_assert_uint_eq(guard.figures.samples, 2);
	ck_assert_int_gt(guard.figures.sample[0].to_ioctl_ns, 0);
	ck_assert_int_eq(guard.figures.sample[0].to_suspended_ns,
			 guard.figures.sample[0].to_ioctl_ns + 10000);
	ck_assert_int_eq(guard.figures.sample[0].to_slots_ns,
			 guard.figures.sample[0].to_ioctl_ns + 5000);
	ck_assert_uint_eq(printed("suspended 200: arrival, 2 of 2 queues"), 2);
	ck_assert_uint_eq(printed("resumed 200: idle, 2 of 2 queues"), 1);
	ck_assert_uint_gt(atomic_load(&guard.polls), 0);
}
END_TEST

/* Online ends in the middle of its work: offline runs. */
START_TEST(online_ends)
{
	start_guard();
	memory->written = 1;
	look_until_suspends(1);
	world_remove(good);
	look_until_resumes(1);
}
END_TEST

/* A suspend that fails is reported once, and tried again. */
START_TEST(fails)
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
END_TEST

/* As a server's begin does, by the lock. */
static uint64_t begin_ns(void)
{
	uint64_t begin = shr_now_ns();

	pthread_mutex_lock(&guard.lock);
	guard.changed = true;
	pthread_mutex_unlock(&guard.lock);
	return shr_now_ns() - begin;
}

static int start_stuck(void)
{
	stuck = start_child(never_answer);
	while (!atomic_load(&memory->ready))
		shr_sleep_ns(NSEC_PER_MSEC);
	add_online(stuck, "serve", (uintptr_t)page, (uintptr_t)page + 8);
	return atomic_load(&memory->ready);
}

START_TEST(never_answers)
{
	struct gpreempt_stats stats;
	uint64_t took[TRIES];
	size_t i;

	if (start_stuck() < 0) {
		fprintf(stderr, "skipped: this kernel has no userfaultfd for "
			"us: %s\n", strerror(-atomic_load(&memory->ready)));
		return;
	}
	start_guard();
	/* The other one's work is seen, while that read does not return. */
	look_until("does not answer: its work is not seen");
	ck_assert_uint_eq(guard.turn.stuck, 1);
	memory->written = 1;
	look_until_suspends(1);
	for (i = 0; i < TRIES; i++) {
		took[i] = begin_ns();
		shr_sleep_ns(NSEC_PER_MSEC / 10);
	}
	gpreempt_stats(took, TRIES, &stats);
	fprintf(stderr, "begin beside a page that never answers: p50 %.1f us, "
		"p99 %.1f us, max %.1f us\n", stats.p50 / 1e3, stats.p99 / 1e3,
		stats.max / 1e3);
	ck_assert_uint_lt(stats.p50, NSEC_PER_MSEC);
	ck_assert_uint_eq(guard.turn.stuck, 1);
	memory->read = 1;
	look_until_resumes(1);
	/* It answers after all: the thread that waited is the stand-in. */
	atomic_store(&memory->answer, 1);
	look_until("answers again");
	ck_assert_uint_eq(guard.turn.stuck, 0);
	ck_assert_uint_le(guard.turn.threads, 3);
}
END_TEST

/* It stops being a target in the middle of that read. */
START_TEST(dropped_while_read)
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
END_TEST

/* Descriptors of a thread; each must be an eventfd. */
static size_t count_eventfds(const char *tid)
{
	char path[320], link[64];
	struct dirent *entry;
	ssize_t len;
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/self/task/%s/fd", tid);
	dir = opendir(path);
	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		len = readlinkat(dirfd(dir), entry->d_name, link,
				 sizeof(link) - 1);
		ck_assert_int_gt(len, 0);
		link[len] = '\0';
		ck_assert_str_eq(link, "anon_inode:[eventfd]");
		n++;
	}
	closedir(dir);
	return n;
}

static bool reads_memory(const char *tid)
{
	char path[320], name[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%s/comm", tid);
	f = fopen(path, "r");
	if (f) {
		name[fread(name, 1, sizeof(name) - 1, f)] = '\0';
		fclose(f);
	}
	return !strncmp(name, "guard-", 6);
}

/* Threads that read memory have nothing open but what wakes workers. */
START_TEST(own_descriptors)
{
	struct dirent *entry;
	size_t threads = 0;
	DIR *dir;

	start_guard();
	dir = opendir("/proc/self/task");
	ck_assert_ptr_nonnull(dir);
	/* A thread has its name before its first look. */
	while ((entry = readdir(dir))) {
		if (!reads_memory(entry->d_name))
			continue;
		threads++;
		ck_assert_uint_eq(count_eventfds(entry->d_name), GUARD_WAKES);
	}
	closedir(dir);
	ck_assert_uint_ge(threads, 1);
	/* And a worker that is made later is woken. */
	world_add(201, "train", "/");
	world_queues(201, QUEUES "0 0xf7bc compute-aql 0x8 0x10 0x40 4096\n");
	look_until("process 201 is offline");
	memory->written = 1;
	look_until_suspends(2);
}
END_TEST

static char fuse_path[] = "/tmp/gpreempt-fuse-XXXXXX";
static atomic_int *asked;	/* the file was read from */

static void answer_fuse(int fd, uint64_t unique, const void *body, size_t size)
{
	char buf[256];
	struct fuse_out_header h = { sizeof(h) + size, 0, unique };

	memcpy(buf, &h, sizeof(h));
	memcpy(buf + sizeof(h), body, size);
	if (write(fd, buf, h.len) != (ssize_t)h.len)
		_exit(1);
}

/*
 * A file system that is one file, which can be opened and never be read from.
 * Not even SIGKILL ends a wait for it: it takes no reads but one after the other.
 */
static void serve_fuse(int fd)
{
	static struct {
		struct fuse_in_header h;
		char rest[1 << 17];
	} in;
	struct fuse_init_out init = {
		.major = 7, .minor = 31, .max_write = 4096,
	};
	struct fuse_attr_out attr = {
		.attr = { .ino = 1, .size = PAGE, .nlink = 1,
			  .mode = S_IFREG | 0644 },
	};
	struct fuse_open_out open = { 0 };

	while (read(fd, &in, sizeof(in)) > 0) {
		if (in.h.opcode == FUSE_INIT)
			answer_fuse(fd, in.h.unique, &init, sizeof(init));
		else if (in.h.opcode == FUSE_GETATTR)
			answer_fuse(fd, in.h.unique, &attr, sizeof(attr));
		else if (in.h.opcode == FUSE_OPEN)
			answer_fuse(fd, in.h.unique, &open, sizeof(open));
		else if (in.h.opcode == FUSE_READ)
			atomic_store(asked, 1);
	}
}

/* The server; 0: there is no FUSE for us. */
static pid_t mount_fuse(void)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[128];
	pid_t server = 0;

	ck_assert_int_ge(mkstemp(fuse_path), 0);
	asked = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(asked != MAP_FAILED);
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=100644,user_id=0,group_id=0", fd);
	if (fd >= 0 && !unshare(CLONE_NEWNS) &&
	    !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	    !mount("x", fuse_path, "fuse", MS_NOSUID | MS_NODEV, options)) {
		server = fork();
		if (!server) {
			serve_fuse(fd);
			_exit(0);
		}
	}
	if (fd >= 0)
		close(fd);
	return server;
}

/* An online process whose indices are in that file. */
static void map_fuse(void)
{
	int fd = open(fuse_path, O_RDONLY);
	struct stat st;

	/* So that the kernel knows its size. */
	if (fd < 0 || fstat(fd, &st) < 0 ||
	    mmap(page, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) != page)
		_exit(1);
	atomic_store(&memory->ready, 1);
	do_nothing();
}

static int connect_guard(void)
{
	struct sockaddr_un to = { AF_UNIX, GUARD_SOCKET };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC |
			SOCK_NONBLOCK, 0);
	int ret = connect(fd, (struct sockaddr *)&to, sizeof(to)) ? -errno : 0;

	close(fd);
	return ret;
}

/* A guard with its socket and a lock, which reads a page that never answers. */
static void be_guard(int ready)
{
	struct guard_server *server;

	ck_assert_int_eq(guard_serve_start(&guard, GUARD_SOCKET, &server), 0);
	start_guard();
	look_until("does not answer");
	ck_assert_int_eq(write(ready, "x", 1), 1);
	for (;;)
		pause();
}

static size_t threads_of(pid_t pid)
{
	char path[64];
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n > 2 ? n - 2 : 0;
}

/*
 * Guard is killed, and one of its threads cannot be: its socket refuses, and
 * the locks of its targets are free.
 */
START_TEST(killed_while_read)
{
	uint64_t end;
	int ready[2], lock;
	pid_t server = mount_fuse(), killed;
	char c;

	if (!server) {
		fprintf(stderr, "killed_while_read: skipped, no FUSE here: "
			"%m\n");
		unlink(fuse_path);
		return;
	}
	stuck = start_child(map_fuse);
	while (!atomic_load(&memory->ready))
		shr_sleep_ns(NSEC_PER_MSEC);
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
	end = shr_now_ns() + 10 * NSEC_PER_SEC;
	while (connect_guard() != -ECONNREFUSED || lock < 0) {
		ck_assert_msg(shr_now_ns() < end, "guard was killed; connect: "
			      "%s, lock of its target: %s",
			      strerror(-connect_guard()),
			      lock < 0 ? strerror(-lock) : "free");
		shr_sleep_ns(10 * NSEC_PER_MSEC);
		if (lock < 0)
			lock = hold_lock(200);
	}
	close(lock);
	/* Else this has shown nothing. */
	ck_assert_int_eq(waitpid(killed, NULL, WNOHANG), 0);
	ck_assert_uint_ge(threads_of(killed), 1);

	/* Its end is not read before: the thread is. */
	ck_assert_int_eq(read(ready[0], &c, 1), 0);
	umount2(fuse_path, MNT_FORCE | MNT_DETACH);
	ck_assert_int_eq(waitpid(killed, NULL, 0), killed);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	unlink(fuse_path);
}
END_TEST

int main(void)
{
	TCase *c = unit_case();

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, orders);
	tcase_add_test(c, online_ends);
	tcase_add_test(c, fails);
	tcase_add_test(c, never_answers);
	tcase_add_test(c, dropped_while_read);
	tcase_add_test(c, own_descriptors);
	tcase_add_test(c, killed_while_read);
	return unit_run("guard-poll");
}
