// SPDX-License-Identifier: GPL-2.0-only
/* Asking a holder. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "ctl/hold.h"
#include "shared/clock.h"

/* Longer than the driver waits for a GPU that hangs. */
#define ANSWER_TIMEOUT_S 30

/* How long a holder may take to end after it has let go. */
#define END_NS (3 * NSEC_PER_SEC)
#define PAUSE_NS (2 * NSEC_PER_MSEC)

static int connect_to(pid_t target)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timeval timeout = { .tv_sec = ANSWER_TIMEOUT_S };
	int fd, ret;

	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	hold_socket_path(target, address.sun_path, sizeof(address.sun_path));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	ret = errno == ECONNREFUSED ? -ENOENT : -errno;
	close(fd);
	return ret;
}

int hold_ask_begin(pid_t target, const struct hold_request *request)
{
	char buf[HOLD_MAX_PACKET];
	int fd = connect_to(target);

	/* If it has ended, the answer will say so. */
	if (fd >= 0)
		send(fd, buf, hold_put_request(request, buf), MSG_NOSIGNAL);
	return fd;
}

int hold_ask_end(int fd, struct hold_reply *reply)
{
	char buf[HOLD_MAX_PACKET];
	ssize_t n;

	do {
		n = recv(fd, buf, sizeof(buf), 0);
	} while (n < 0 && errno == EINTR);
	close(fd);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return -ETIMEDOUT;
	if (n < 0 && errno != ECONNRESET && errno != EPIPE)
		return -errno;
	if (n <= 0)
		return -ECONNRESET;
	return hold_get_reply(buf, n, reply);
}

int hold_ask(pid_t target, const struct hold_request *request,
	     struct hold_reply *reply)
{
	int fd = hold_ask_begin(target, request);

	return fd < 0 ? fd : hold_ask_end(fd, reply);
}

bool hold_wait_for_end(pid_t target)
{
	uint64_t deadline = shr_now_ns() + END_NS;
	struct hold_owner owner;

	while (hold_read_owner(target, &owner) != -ENOENT) {
		if (shr_now_ns() > deadline)
			return false;
		shr_sleep_ns(PAUSE_NS);
	}
	return true;
}

static bool has(const uint32_t *list, uint64_t count, uint32_t value)
{
	uint64_t i;

	for (i = 0; i < count; i++)
		if (list[i] == value)
			return true;
	return false;
}

void hold_request_queues(struct hold_request *request,
			 const struct ctl_args *args)
{
	size_t i;

	if (args->n_ids)
		memcpy(request->ids, args->ids,
		       args->n_ids * sizeof(*args->ids));
	request->count = args->n_ids;
	/* A packet has no number twice. */
	for (i = 0; i < args->n_gpus; i++)
		if (request->n_gpus < HOLD_MAX_GPUS &&
		    !has(request->gpus, request->n_gpus, args->gpus[i]))
			request->gpus[request->n_gpus++] = args->gpus[i];
	request->by_priority = args->priority.set;
	request->priority_min = args->priority.min;
	request->priority_max = args->priority.max;
}
