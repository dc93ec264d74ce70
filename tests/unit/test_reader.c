// SPDX-License-Identifier: GPL-2.0-only
/* Reading memory that does not answer: by a page that a userfaultfd serves. */
#include <dirent.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "lib/preempt/session.h"
#include "unit-host.h"
#include "unit-session.h"

#define PAGE 4096

static struct gpreempt *live;

static void setup(void)
{
	ck_assert_int_eq(gpreempt_new(NULL, &live), 0);
}

static void teardown(void)
{
	gpreempt_free(live);
}

/* A page that is never filled: access to it blocks. -1: not on this kernel. */
static int hang_page(void **page)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register where = {
		.range.len = PAGE,
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		unit_skip("hang_page", "no userfaultfd here: %s", strerror(errno));
		return -1;
	}
	*page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	where.range.start = (uintptr_t)*page;
	ck_assert_int_eq(ioctl(fd, UFFDIO_API, &api), 0);
	ck_assert_int_eq(ioctl(fd, UFFDIO_REGISTER, &where), 0);
	return fd;
}

/* Answers with a page of that byte. */
static void fill_page(int fd, void *page, int byte)
{
	static unsigned char bytes[PAGE];
	struct uffdio_copy copy = {
		.dst = (uintptr_t)page,
		.src = (uintptr_t)bytes,
		.len = PAGE,
	};

	memset(bytes, byte, sizeof(bytes));
	ck_assert_int_eq(ioctl(fd, UFFDIO_COPY, &copy), 0);
}

TEST(reads)
{
	struct gp_reader *r = NULL;
	char from[8] = "gpreemp", to[8] = "", many[GP_READER_MAX + 1];

	ck_assert_int_eq(gp_reader_start(live, getpid(), &r), 0);
	ck_assert_int_eq(gp_reader_read(r, (uintptr_t)from, to, 8), 0);
	ck_assert_str_eq(to, from);
	ck_assert_int_eq(gp_reader_read(r, 1, to, 8), -EFAULT);
	ck_assert_int_eq(gp_reader_read(r, (uintptr_t)from, to, 8), 0);
	ck_assert_int_eq(gp_reader_read(r, (uintptr_t)from, many, sizeof(many)), -E2BIG);
	gp_reader_stop(r);
	gp_reader_stop(NULL);
}

/* Has each thread of this process descriptors? As " 1 0". */
static const char *count_files(void)
{
	static char text[64];
	char path[320];
	struct dirent *thread;
	DIR *threads = opendir("/proc/self/task");
	size_t len = 0;

	ck_assert_ptr_nonnull(threads);
	while ((thread = readdir(threads))) {
		DIR *files;
		int n = 0;

		if (thread->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/fd", thread->d_name);
		files = opendir(path);
		ck_assert_ptr_nonnull(files);
		while (readdir(files))
			n++;
		closedir(files);
		len += snprintf(text + len, sizeof(text) - len, " %d",
				n > 2 ? 1 : 0); /* without "." and ".." */
	}
	closedir(threads);
	return text;
}

/* If it has to be left behind, no lock and no socket stays with it. */
TEST(has_no_descriptors)
{
	struct gp_reader *r = NULL;
	char from[8] = "gpreemp", to[8];

	ck_assert_str_eq(count_files(), " 1");
	ck_assert_int_eq(gp_reader_start(live, getpid(), &r), 0);
	ck_assert_int_eq(gp_reader_read(r, (uintptr_t)from, to, 8), 0);
	ck_assert_str_eq(count_files(), " 1 0");
	gp_reader_stop(r);
}

/* Comes back in time, fails at once while the page is open, and works again. */
TEST(does_not_hang)
{
	struct gp_reader *r = NULL;
	void *page = NULL;
	int fd = hang_page(&page), ret;
	uint32_t word = 0;

	if (fd < 0)
		return;
	unit_set_limit(UNIT_READER, 50 * NSEC_PER_MSEC);
	ck_assert_int_eq(gp_reader_start(live, getpid(), &r), 0);
	ck_assert_int_eq(gp_reader_read(r, (uintptr_t)page, &word, 4), -ETIMEDOUT);
	ck_assert_int_eq(gp_reader_read(r, (uintptr_t)page, &word, 4), -EBUSY);
	ck_assert_int_eq(gp_reader_read(r, (uintptr_t)&fd, &word, 4), -EBUSY);
	fill_page(fd, page, 7);
	unit_reset_limits();
	UNIT_WAIT((ret = gp_reader_read(r, (uintptr_t)page, &word, 4)) != -EBUSY);
	ck_assert_int_eq(ret, 0);
	ck_assert_uint_eq(word, 0x07070707);
	gp_reader_stop(r);
	munmap(page, PAGE);
	close(fd);
}

/* The thread ends by itself when the page comes: ASan would see memory that it keeps. */
TEST(is_left_behind)
{
	struct gp_reader *r = NULL;
	void *page = NULL;
	int fd = hang_page(&page);
	uint32_t word;

	if (fd < 0)
		return;
	unit_set_limit(UNIT_READER, 50 * NSEC_PER_MSEC);
	ck_assert_int_eq(gp_reader_start(live, getpid(), &r), 0);
	ck_assert_int_eq(gp_reader_read(r, (uintptr_t)page, &word, 4), -ETIMEDOUT);
	gp_reader_stop(r);
	fill_page(fd, page, 1);
	UNIT_WAIT(unit_threads(getpid(), "") == 1);
	munmap(page, PAGE);
	close(fd);
}

/* The made-up system, but with the memory of this process. */
static struct gp_backend_ops ops;

static int read_memory(void *be, pid_t pid, uint64_t address, void *buf, size_t size)
{
	(void)be;
	(void)pid;
	return gp_backend_live.read_memory(NULL, getpid(), address, buf, size);
}

/*
 * A thread of the process destroys a queue, with the argument in such a page:
 * the session goes on, with new queues and with signals.
 */
TEST(session_goes_on)
{
	static char text[96];
	void *page = NULL;
	int fd, i;

	unit_setup();
	fd = hang_page(&page);
	if (fd < 0) {
		unit_teardown();
		return;
	}
	unit_set_limit(UNIT_READER, 50 * NSEC_PER_MSEC);
	gpreempt_free(g);
	ops = gp_backend_loop;
	ops.read_memory = read_memory;
	ck_assert_int_eq(gp_new_backend(NULL, &ops, &loop, &g), 0);
	open_with_queues(2);
	gpreempt_session_suspend(s, NULL, NULL);
	snprintf(text, sizeof(text), "16 0x3 0xc0084b03 0x%lx 0x0 0x0 0x0 0x1 0x2\n",
		 (unsigned long)page);
	set_file("/proc/4194242/task/4194242/syscall", text);
	ck_assert_ptr_nonnull(s->reader);
	for (i = 0; i < 100; i++) {
		ck_assert_int_ge(gpreempt_session_dispatch(s), 0);
		usleep(1000);
	}
	ck_assert_int_eq(gp_reader_read(s->reader, (uintptr_t)page, text, 4), -EBUSY);
	gp_loop_add_queue(&loop, 2);
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_QUEUES);
	ck_assert(suspended(2));
	gp_loop_stop(&loop, SIGUSR1 << 8 | 0x7f);
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_SIGNAL);
	ck_assert_int_eq(gpreempt_session_close(s), 0);
	fill_page(fd, page, 0);
	usleep(50000);
	munmap(page, PAGE);
	close(fd);
	unit_teardown();
}

TEST_FIXTURE(setup, teardown)
