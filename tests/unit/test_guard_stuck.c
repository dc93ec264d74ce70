// SPDX-License-Identifier: GPL-2.0-only
/*
 * Poller of guard and a process whose memory never answers: it delays no other, and guard can be
 * killed meanwhile.
 */
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "hold/run-dir.h"
#include "unit-fuse.h"
#include "unit-host.h"
#include "unit-poll.h"

#define TRIES 500

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

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &reg) < 0) {
		atomic_store(&memory->ready, -errno);
		do_nothing();
	}
	atomic_store(&memory->ready, 1);
	while (!atomic_load(&memory->answer))
		shr_sleep_ns(NSEC_PER_MSEC);
	ioctl(fd, UFFDIO_ZEROPAGE, &zero);
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
	asked = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(asked != MAP_FAILED);
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
	for (;;)
		pause();
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
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	unlink(fuse_path);
}

TEST_FIXTURE(poll_setup, poll_teardown)
