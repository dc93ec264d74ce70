// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "shared/notify.h"
#include "shared/macro.h"
#include "shared/parse.h"

void notify_manager(const char *state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	__cleanup_fd int fd = -1;
	socklen_t size;

	if (!path || !*path || strlen(path) >= sizeof(address.sun_path))
		return;
	strcpy(address.sun_path, path);
	size = offsetof(struct sockaddr_un, sun_path) + strlen(path);
	/* A name that is in no directory. */
	if (*path == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT,
		       (struct sockaddr *)&address, size);
}

uint64_t notify_watchdog_ns(void)
{
	const char *time = getenv("WATCHDOG_USEC");
	const char *who = getenv("WATCHDOG_PID");
	uint64_t usec, pid;

	if (!time || shr_parse_u64(time, UINT64_MAX / NSEC_PER_USEC, &usec))
		return 0;
	if (who && (shr_parse_u64(who, INT32_MAX, &pid) || pid != (uint64_t)getpid()))
		return 0;
	return usec * NSEC_PER_USEC;
}
