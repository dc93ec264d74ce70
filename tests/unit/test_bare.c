// SPDX-License-Identifier: GPL-2.0-only
/* A process for what may wait for ever: it is asked, left behind, reaped. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/core/bare.h"
#include "shared/clock.h"
#include "unit-fuse.h"
#include "unit.h"

#define LONG_NS	 (60 * NSEC_PER_SEC)
#define SHORT_NS (50 * NSEC_PER_MSEC)

static char dir[] = "/tmp/gpreempt-bare-XXXXXX";

/* Says that it is done if it has nothing open but the pipe. */
static void look_at_files(void *arg)
{
	int fd;

	for (fd = GP_BARE_PIPE + 1; fd < *(int *)arg; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			return;
	if (write(GP_BARE_PIPE, "", 1) == 1)
		for (;;)
			pause();
}

TEST(nothing_open)
{
	int fd = open("/dev/null", O_RDONLY), most = fd + 16;
	struct gp_bare b;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(gp_bare_start(&b, look_at_files, &most), 0);
	ck_assert_int_eq(gp_bare_wait(&b, LONG_NS), 0);
	ck_assert(!gp_bare_reap(b.pid));
	ck_assert(gp_bare_end(&b, LONG_NS));
	close(fd);
	/* No wait() of the program has it. */
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG | __WALL), -1);
	ck_assert_int_eq(errno, ECHILD);
}

static void say_nothing(void *arg)
{
	(void)arg;
}

TEST(ends_at_once)
{
	struct gp_bare b;

	ck_assert_int_eq(gp_bare_start(&b, say_nothing, NULL), 0);
	ck_assert_int_eq(gp_bare_wait(&b, LONG_NS), -EIO);
	ck_assert(gp_bare_end(&b, LONG_NS));
}

static atomic_int asked;

static void *serve(void *arg)
{
	unit_fuse_serve_nothing(*(int *)arg, &asked);
	return NULL;
}

static void open_below_mount(void *arg)
{
	open(arg, O_RDONLY);
}

/* It waits for a file system that never answers: SIGKILL does not end that. */
TEST(never_answers)
{
	pthread_t server;
	struct gp_bare b;
	char path[64];
	int fd;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	fd = unit_fuse_mount(dir, S_IFDIR | 0755, geteuid());
	if (fd < 0) {
		printf("never_answers: skipped, no FUSE here: %s\n",
		       strerror(-fd));
		rmdir(dir);
		return;
	}
	pthread_create(&server, NULL, serve, &fd);
	snprintf(path, sizeof(path), "%s/file", dir);
	ck_assert_int_eq(gp_bare_start(&b, open_below_mount, path), 0);
	while (!atomic_load(&asked))
		shr_sleep_ns(NSEC_PER_MSEC);
	ck_assert_int_eq(gp_bare_wait(&b, SHORT_NS), -ETIMEDOUT);
	ck_assert(!gp_bare_end(&b, SHORT_NS));
	ck_assert(!gp_bare_reap(b.pid));
	umount2(dir, MNT_DETACH);
	pthread_cancel(server);
	pthread_join(server, NULL);
	close(fd);
	while (!gp_bare_reap(b.pid))
		shr_sleep_ns(NSEC_PER_MSEC);
	rmdir(dir);
}

int main(void)
{
	return unit_run("bare process");
}
