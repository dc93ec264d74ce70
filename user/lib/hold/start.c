// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Starting a holder. A program with threads must not run its own code between
 * fork() and exec(), so this is posix_spawn(); and a program that root trusts
 * must not take from its environment what to run.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/hold/start.h"
#include "proto/hold.h"

static int set_attributes(posix_spawnattr_t *attributes)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_setsigmask(attributes, &none);
	posix_spawnattr_setsigdefault(attributes, &all);
	return posix_spawnattr_setflags(attributes,
					POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSIGDEF);
}

static int spawn(pid_t target, int fd, pid_t *child)
{
	static char name[] = "gpreempt-holder";
	static char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
	char number[16];
	char *const argv[] = { name, number, NULL };
	char *const environment[] = { path, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int ret;

	snprintf(number, sizeof(number), "%d", target);
	if (posix_spawn_file_actions_init(&actions))
		return -ENOMEM;
	if (posix_spawnattr_init(&attributes)) {
		posix_spawn_file_actions_destroy(&actions);
		return -ENOMEM;
	}
	ret = posix_spawn_file_actions_adddup2(&actions, fd, HOLD_START_FD);
	if (!ret)
		ret = set_attributes(&attributes);
	if (!ret)
		ret = posix_spawn(child, gp_holder_path, &actions, &attributes,
				  argv, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -ret;
}

int gp_holder_start(pid_t target, pid_t *child)
{
	int pair[2], ret;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	ret = spawn(target, pair[1], child);
	close(pair[1]);
	if (!ret)
		return pair[0];
	close(pair[0]);
	return ret;
}
