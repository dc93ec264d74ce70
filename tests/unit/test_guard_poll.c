// SPDX-License-Identifier: GPL-2.0-only
/* guard's poller, which reads the memory of processes of ours: orders follow work. */
#include <dirent.h>
#include <sys/ioctl.h>

#include "unit-host.h"
#include "unit-poll.h"

/* Work comes and goes: an order each time, with the time of the arrival. */
TEST(orders)
{
	const int64_t *ns;

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
	ck_assert_uint_gt(guard.offline[0].times.held_ns, 0);
	memory->written = 2;
	look_until_suspends(2);
	ck_assert_uint_eq(guard.figures.samples, 2);
	ns = guard.figures.sample[0].ns;
	ck_assert_int_gt(ns[GUARD_TO_IOCTL], 0);
	ck_assert_int_eq(ns[GUARD_TO_SUSPENDED], ns[GUARD_TO_IOCTL] + 10000);
	ck_assert_int_eq(ns[GUARD_TO_SLOTS], ns[GUARD_TO_IOCTL] + 5000);
	ck_assert_uint_eq(printed("suspended 200: arrival, 2 of 2 queues"), 2);
	ck_assert_uint_eq(printed("resumed 200: idle, 2 of 2 queues"), 1);
	ck_assert_uint_gt(atomic_load(&guard.polls), 0);
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

/* Threads that read memory have only the workers' eventfds open. */
TEST(own_descriptors)
{
	struct dirent *entry;
	size_t threads = 0;
	DIR *dir;

	start_guard();
	UNIT_WAIT(unit_threads(getpid(), "guard-"));
	dir = opendir("/proc/self/task");
	ck_assert_ptr_nonnull(dir);
	/* A thread has its name before its first look. */
	while ((entry = readdir(dir))) {
		if (!reads_memory(entry->d_name))
			continue;
		threads++;
		UNIT_WAIT(count_eventfds(entry->d_name) == GUARD_WAKES);
	}
	closedir(dir);
	ck_assert_uint_ge(threads, 1);
	/* A worker that is made later is woken, too. */
	world_add(201, "train", "/");
	world_queues(201, QUEUES "0 0xf7bc compute-aql 0x8 0x10 0x40 4096\n");
	look_until("process 201 is offline");
	memory->written = 1;
	look_until_suspends(2);
}

TEST_FIXTURE(poll_setup, poll_teardown)
