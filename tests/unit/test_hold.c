// SPDX-License-Identifier: GPL-2.0-only
/*
 * gpreempt_hold(): the library's side against a made-up holder, which is this
 * program under another name.
 */
#include <poll.h>
#include <sys/socket.h>

#include "hold/holder.h"
#include "shared/socket.h"
#include "unit.h"
#include "unit-host.h"

#define NAME "gpreempt-holder"

/* Behaviour of the made-up holder, by the grace of a request. */
enum {
	WELL,
	BUSY = 1, /* the process is held */
	SILENT,	  /* ends without an answer */
	STUCK,	  /* never answers */
	PARTLY,
	OLD_DRIVER, /* fails for its interface */
	UNKNOWN,    /* fails without a reason */
	NEWER_VERSION,
};

static struct gpreempt_hold *hold;
static struct gpreempt_hold_status status;
static struct gpreempt_error err;
static uint64_t lease_ns;
static bool over;

static size_t answer(void *data, struct ipc_client *client, char *buf, size_t len)
{
	struct hold_request request;
	struct hold_reply reply = { .worker = getpid(), .queues = 2 };

	(void)data;
	(void)client;
	if (gp_hold_get_request(buf, len, &request))
		return 0;
	if (request.worker && request.worker != reply.worker)
		reply.status = GPREEMPT_CLASS_NO_TARGET;
	else if (request.verb == HOLD_EXTEND)
		lease_ns = request.lease_ns;
	else if (request.verb == HOLD_RESUME)
		over = true;
	reply.lease_ns = lease_ns;
	return gp_hold_put_reply(&reply, buf);
}

static void hold_on(struct ipc_server *server)
{
	struct pollfd fds[] = {
		{ .fd = HOLD_START_FD, .events = POLLIN },
		{ .fd = gp_ipc_server_fd(server), .events = POLLIN },
	};
	char c;

	while (!over && poll(fds, 2, UNIT_LIMIT_S * 1000) > 0) {
		if (fds[1].revents)
			gp_ipc_server_dispatch(server);
		if (!fds[0].revents)
			continue;
		over = recv(HOLD_START_FD, &c, 1, 0) != 1;
		fds[0].fd = -1;
	}
	gp_ipc_server_stop(server);
}

static bool as_asked(const struct hold_request *request)
{
	return request->verb == HOLD_SUSPEND && request->start == 777 &&
	       request->command == (uint64_t)getppid() && request->count == 2 &&
	       request->ids[1] == 7 && request->n_gpus == 1 && request->gpus[0] == 63420 &&
	       request->by_priority && request->priority_max == 9;
}

static int made_up_holder(const char *target)
{
	static struct hold_request request;
	struct hold_reply reply = {
		.queues = 2,
		.ioctl_ns = 5,
		.verdict = GPREEMPT_VERIFIED,
		.verified_by = GPREEMPT_BY_SLOTS_WAVES,
	};
	char buf[IPC_MAX_PACKET], path[64];
	struct ipc_server_options options = {
		.path = path,
		.limits = { .places = 4 },
		.locked = true,
		.one_request = true,
		.answer = answer,
	};
	struct ipc_server *server;
	ssize_t n;

	n = gp_ipc_recv(HOLD_START_FD, buf, sizeof(buf), unit_soon());
	if (n < 0 || gp_hold_get_request(buf, n, &request) || getenv("HOME"))
		return 1;
	if (request.grace == SILENT)
		return 2;
	if (request.grace == NEWER_VERSION) {
		send(HOLD_START_FD, buf, gp_ipc_refuse(-EPROTO, buf), MSG_NOSIGNAL);
		return 1;
	}
	if (request.grace == STUCK) {
		/* Wait until the library closes its end. */
		recv(HOLD_START_FD, buf, 1, 0);
		return 1;
	}
	if (request.count && !as_asked(&request))
		return 1;
	if (request.grace == BUSY) {
		reply.status = GPREEMPT_CLASS_BUSY;
		reply.code = -EBUSY;
		reply.reason = GPREEMPT_HELD;
		reply.other = 77;
	} else if (request.grace == OLD_DRIVER) {
		reply.status = GPREEMPT_CLASS_UNSUPPORTED;
		reply.code = -ENOTSUP;
		reply.reason = GPREEMPT_KFD_VERSION;
		reply.major = 1;
		reply.minor = 11;
	} else if (request.grace == UNKNOWN) {
		reply.status = GPREEMPT_CLASS_FAILED;
		reply.reason = 12345;
	} else if (fork()) {
		return 0;
	}
	if (request.grace == PARTLY)
		reply.status = GPREEMPT_CLASS_PARTIAL;
	lease_ns = reply.lease_ns = request.lease_ns;
	reply.worker = getpid();
	snprintf(path, sizeof(path), GP_HOLD_SOCKET, atoi(target));
	if (!reply.reason && gp_ipc_server_start(&options, &server))
		return 1;
	send(HOLD_START_FD, buf, gp_hold_put_reply(&reply, buf), MSG_NOSIGNAL);
	if (!reply.reason)
		hold_on(server);
	return 0;
}

static void setup(void)
{
	char self[256] = "";

	hold_dir_setup();
	ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
	unlink(GP_HOLDER);
	ck_assert_int_eq(symlink(self, GP_HOLDER), 0);
	unit_setup();
	memset(&status, 0xff, sizeof(status));
}

static void teardown(void)
{
	gpreempt_hold_close(hold);
	unlink(GP_HOLDER);
	unit_teardown();
}

static int open_with(uint32_t what, uint64_t lease)
{
	struct gpreempt_hold_options options = {
		.size = sizeof(options),
		.grace = what,
		.lease_ns = lease,
		.timeout_ns = UNIT_LIMIT_NS,
	};

	return gpreempt_hold(g, PID, NULL, &options, &status, &hold, &err);
}

/* Check that the holder's socket goes with it. */
static void expect_end(void)
{
	UNIT_WAIT(!hold_socket_inode(PID));
}

TEST(held_and_released)
{
	static const uint32_t ids[] = { 0, 7 }, gpus[] = { 63420 };
	struct gpreempt_filter which = {
		.ids = ids,
		.n_ids = 2,
		.gpu_ids = gpus,
		.n_gpu_ids = 1,
		.by_priority = true,
		.priority_max = 9,
	};

	ck_assert_int_eq(gpreempt_hold(g, PID, &which, NULL, &status, &hold, &err), 0);
	ck_assert_uint_eq(status.queues, 2);
	ck_assert_uint_eq(status.ioctl_ns, 5);
	ck_assert_int_eq(status.verdict, GPREEMPT_VERIFIED);
	ck_assert_int_eq(status.verified_by, GPREEMPT_BY_SLOTS_WAVES);
	ck_assert_int_gt(status.holder, 0);
	ck_assert(!status.partial);
	ck_assert_uint_eq(status.lease_ns, GPREEMPT_HOLD_LEASE_NS);
	ck_assert_int_ge(gpreempt_hold_fd(hold), 0);
	ck_assert_int_eq(gpreempt_hold_extend(hold, 5), 0);
	ck_assert_int_eq(gpreempt_hold_status(hold, &status), 0);
	ck_assert_uint_eq(status.lease_ns, 5);
	ck_assert_int_eq(gpreempt_hold_extend(hold, GPREEMPT_HOLD_NO_LEASE), 0);
	ck_assert_int_eq(gpreempt_hold_status(hold, &status), 0);
	ck_assert_uint_eq(status.lease_ns, GPREEMPT_HOLD_NO_LEASE);
	ck_assert_int_eq(gpreempt_hold_release(hold), 0);
	ck_assert_int_eq(gpreempt_hold_fd(hold), -1);
	expect_end();
	ck_assert_int_eq(gpreempt_hold_release(hold), 0);
	ck_assert_int_eq(gpreempt_hold_extend(hold, 0), -ENOTCONN);
	ck_assert_int_eq(gpreempt_hold_detach(hold), -ENOTCONN);
	/* No child of ours is left. */
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

TEST(closing_ends_it)
{
	ck_assert_int_eq(open_with(PARTLY, GPREEMPT_HOLD_NO_LEASE), 0);
	ck_assert(status.partial);
	ck_assert_uint_eq(status.lease_ns, GPREEMPT_HOLD_NO_LEASE);
	gpreempt_hold_close(hold);
	hold = NULL;
	gpreempt_hold_close(NULL);
	expect_end();
}

/* However the program ends, the holder does. */
TEST(program_dies)
{
	pid_t child = fork();

	if (!child) {
		if (open_with(WELL, GPREEMPT_HOLD_NO_LEASE) || !hold_socket_inode(PID))
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	waitpid(child, NULL, 0);
	expect_end();
}

TEST(detached)
{
	struct hold_request request = { .verb = HOLD_RESUME };
	struct hold_reply reply;

	ck_assert_int_eq(open_with(WELL, NSEC_PER_SEC), 0);
	ck_assert_int_eq(gpreempt_hold_detach(hold), 0);
	ck_assert_int_eq(gpreempt_hold_fd(hold), -1);
	ck_assert_int_eq(gpreempt_hold_extend(hold, 0), 0);
	gpreempt_hold_close(hold);
	hold = NULL;
	ck_assert_int_eq(gp_hold_ask(PID, &request, &reply, unit_soon()), 0);
	expect_end();
}

/* The holder ends by itself: the program can wait for that, and is not misled. */
TEST(ended_by_itself)
{
	ck_assert_int_eq(open_with(WELL, 0), 0);
	ck_assert(!unit_is_readable(gpreempt_hold_fd(hold)));
	kill(status.holder, SIGKILL);
	unit_readable(gpreempt_hold_fd(hold));
	ck_assert_int_eq(gpreempt_hold_extend(hold, 0), -ENOTCONN);
	ck_assert_int_eq(gpreempt_hold_status(hold, &status), -ENOTCONN);
	ck_assert_int_eq(gpreempt_hold_release(hold), 0);
}

/* A later holder of the same process is not ours to release. */
TEST(another_holder)
{
	struct gpreempt_hold *first;

	ck_assert_int_eq(open_with(WELL, 0), 0);
	first = hold;
	kill(status.holder, SIGKILL);
	unit_readable(gpreempt_hold_fd(first));
	ck_assert_int_eq(open_with(WELL, 0), 0);
	ck_assert_int_eq(gpreempt_hold_extend(first, 0), -ENOTCONN);
	ck_assert_int_eq(gpreempt_hold_release(first), 0);
	gpreempt_hold_close(first);
	ck_assert_int_eq(gpreempt_hold_extend(hold, 0), 0);
}

TEST(refused)
{
	char text[256];

	ck_assert_int_eq(open_with(BUSY, 0), -EBUSY);
	ck_assert_int_eq(err.reason, GPREEMPT_HELD);
	ck_assert_int_eq(err.other, 77);
	ck_assert_int_eq(gpreempt_error_class(&err), GPREEMPT_CLASS_BUSY);
	gpreempt_error_text(&err, text, sizeof(text));
	ck_assert_str_eq(text, "process 4194242 is held already, by process 77");
	ck_assert_int_eq(open_with(OLD_DRIVER, 0), -ENOTSUP);
	gpreempt_error_text(&err, text, sizeof(text));
	ck_assert_str_eq(text, "the driver's interface is 1.11; 1.13 to 1.x is needed");
	ck_assert_int_eq(open_with(SILENT, 0), -ECONNRESET);
	ck_assert_int_eq(err.reason, GPREEMPT_SYSTEM);
	ck_assert_int_eq(open_with(NEWER_VERSION, 0), -EPROTO);
	ck_assert_int_eq(err.reason, GPREEMPT_OTHER_VERSION);
	ck_assert_int_eq(open_with(UNKNOWN, 0), -EIO);
	ck_assert_int_eq(err.reason, GPREEMPT_SYSTEM);
	ck_assert_ptr_null(hold);
	unlink(GP_HOLDER);
	ck_assert_int_eq(open_with(WELL, 0), -ENOENT);
	ck_assert_str_eq(err.step, "starting the holder");
}

TEST(no_answer)
{
	struct gpreempt_hold_options options = {
		.size = sizeof(options),
		.grace = STUCK,
		.timeout_ns = 50 * NSEC_PER_MSEC,
	};

	ck_assert_int_eq(gpreempt_hold(g, PID, NULL, &options, NULL, &hold, &err), -ETIMEDOUT);
	ck_assert_ptr_null(hold);
}

TEST(bad_arguments)
{
	static const uint32_t many[HOLD_MAX_IDS + 1];
	struct gpreempt_hold_options options = { .size = sizeof(options) };
	struct gpreempt_filter which = { .ids = many };

	ck_assert_int_eq(gpreempt_hold(g, PID, &which, NULL, NULL, &hold, NULL), -EINVAL);
	which.n_ids = HOLD_MAX_IDS + 1;
	ck_assert_int_eq(gpreempt_hold(g, PID, &which, NULL, NULL, &hold, NULL), -E2BIG);
	which = (struct gpreempt_filter){ .reserved = { 1 } };
	ck_assert_int_eq(gpreempt_hold(g, PID, &which, NULL, NULL, &hold, NULL), -E2BIG);
	options.grace = GPREEMPT_GRACE_MAX + 1;
	ck_assert_int_eq(gpreempt_hold(g, PID, NULL, &options, NULL, &hold, &err), -EINVAL);
	options.size = 0;
	ck_assert_int_eq(gpreempt_hold(g, PID, NULL, &options, NULL, &hold, &err), -EINVAL);
	ck_assert_int_lt(gpreempt_hold(g, PID + 1, NULL, NULL, NULL, &hold, &err), 0);
	ck_assert_int_eq(err.reason, GPREEMPT_NO_PROCESS);
	ck_assert_ptr_null(hold);
}

TEST_FIXTURE(setup, teardown)

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');

	if (!strcmp(name ? name + 1 : argv[0], NAME))
		return argc == 2 ? made_up_holder(argv[1]) : 2;
	return unit_run();
}
