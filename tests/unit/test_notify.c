// SPDX-License-Identifier: GPL-2.0-only
/* The messages to systemd, with us as systemd. */
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "unit.h"

static int manager;

/* Listens at a path, and sets NOTIFY_SOCKET to it. */
static void listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (*path == '@')
		address.sun_path[0] = '\0';
	else
		unlink(path);
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	ck_assert_int_ge(manager, 0);
	ck_assert_int_eq(bind(manager, (struct sockaddr *)&address,
			      offsetof(struct sockaddr_un, sun_path) + strlen(path)),
			 0);
	setenv("NOTIFY_SOCKET", path, 1);
}

static void expect(const char *state)
{
	char text[64] = "";

	ck_assert_int_eq(recv(manager, text, sizeof(text) - 1, 0), strlen(state));
	ck_assert_str_eq(text, state);
}

TEST(told)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/gpreempt-notify.%d", getpid());
	listen_at(path);
	notify_manager("READY=1");
	expect("READY=1");
	notify_manager("WATCHDOG=1");
	expect("WATCHDOG=1");
	close(manager);
	unlink(path);
	/* The manager has gone meanwhile, which is not our affair. */
	notify_manager("STOPPING=1");
	snprintf(path, sizeof(path), "@gpreempt-notify.%d", getpid());
	listen_at(path);
	notify_manager("STOPPING=1");
	expect("STOPPING=1");
	close(manager);
}

/*
 * There is no manager, or its path is too long. We listen where that path would lead if it was
 * cut off: nothing may come there, and no descriptor is left.
 */
TEST(no_manager)
{
	struct sockaddr_un address;
	char cut[sizeof(address.sun_path)], path[sizeof(cut) + 20], text[16];
	int before;

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	memcpy(path, "/tmp/", 5);
	memcpy(cut, path, sizeof(cut));
	cut[sizeof(cut) - 1] = '\0';
	listen_at(cut);
	notify_manager("READY=1");
	expect("READY=1");
	before = dup(manager);
	close(before);
	setenv("NOTIFY_SOCKET", path, 1);
	notify_manager("READY=1");
	unsetenv("NOTIFY_SOCKET");
	notify_manager("READY=1");
	setenv("NOTIFY_SOCKET", "", 1);
	notify_manager("READY=1");
	ck_assert_int_lt(recv(manager, text, sizeof(text), 0), 0);
	ck_assert_int_eq(errno, EAGAIN);
	/* The lowest free number is the same as before. */
	ck_assert_int_eq(dup(manager), before);
	close(before);
	close(manager);
	unlink(cut);
}

TEST(watchdog)
{
	char pid[16];

	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	ck_assert_uint_eq(notify_watchdog_ns(), 0);
	setenv("WATCHDOG_USEC", "30000000", 1);
	ck_assert_uint_eq(notify_watchdog_ns(), 30000000000);
	setenv("WATCHDOG_PID", "1", 1);
	ck_assert_uint_eq(notify_watchdog_ns(), 0);
	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("WATCHDOG_PID", pid, 1);
	ck_assert_uint_eq(notify_watchdog_ns(), 30000000000);
	setenv("WATCHDOG_USEC", "soon", 1);
	ck_assert_uint_eq(notify_watchdog_ns(), 0);
}
