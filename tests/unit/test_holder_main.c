// SPDX-License-Identifier: GPL-2.0-only
/* gpreempt-holder: the program that gpreempt_hold() starts. */
#include <sys/socket.h>

#include "shared/socket.h"
#include "unit-holder.h"

int holder_main(int argc, char **argv);

static void setup(void)
{
	holder_setup();
	ck_assert_int_eq(hold_dir_prepare(), 0);
}

/* Start the program with that word; returns our end of the starter's socket. */
static int start(const char *word, pid_t *child)
{
	/* The holder writes its title over both words. */
	static char words[] = "gpreempt-holder\0 4194304";
	char *name = words + strlen(words) + 1;
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	strcpy(name, word);
	*child = fork();
	if (!*child) {
		char *argv[] = { words, name, NULL };

		close(pair[0]);
		dup2(pair[1], HOLD_START_FD);
		if (pair[1] != HOLD_START_FD)
			close(pair[1]);
		_exit(holder_main(2, argv));
	}
	close(pair[1]);
	return pair[0];
}

/* Ask the holder for a process; the end stays open. */
static int ask(pid_t pid, struct hold_reply *reply)
{
	struct hold_request request = { .verb = HOLD_SUSPEND };
	char buf[IPC_MAX_PACKET], word[16];
	pid_t child;
	ssize_t n;
	int fd;

	snprintf(word, sizeof(word), "%d", pid);
	fd = start(word, &child);
	send(fd, buf, gp_hold_put_request(&request, buf), 0);
	n = gp_ipc_recv(fd, buf, sizeof(buf), shr_now_ns() + UNIT_LIMIT_NS);
	ck_assert_int_gt(n, 0);
	ck_assert_int_eq(gp_hold_get_reply(buf, n, reply), 0);
	ck_assert_int_eq(unit_status(child),
			 reply->reason ? GPREEMPT_CLASS_FAILED : GPREEMPT_CLASS_DONE);
	return fd;
}

/* Its starter may be of another version. */
TEST(bad_start)
{
	char buf[IPC_MAX_PACKET];
	pid_t child;
	int fd;

	close(start("x", &child));
	ck_assert_int_eq(unit_status(child), GPREEMPT_CLASS_USAGE);
	fd = start("4194242", &child);
	send(fd, "nonsense", 8, 0);
	ck_assert_int_eq(unit_status(child), GPREEMPT_CLASS_FAILED);
	ck_assert_int_eq(gp_ipc_recv(fd, buf, sizeof(buf), shr_now_ns() + UNIT_LIMIT_NS), -EPROTO);
	close(fd);
}

/* The holder holds as long as its starter has the other end. */
TEST_AS_ROOT(holds)
{
	struct hold_owner owner;
	struct hold_reply reply;
	int fd = ask(target, &reply);

	ck_assert_uint_eq(reply.status, GPREEMPT_CLASS_DONE);
	ck_assert_uint_eq(reply.queues, 2);
	ck_assert_int_eq(hold_read_owner(target, &owner), 0);
	ck_assert_int_eq(owner.role, HOLD_ROLE_HOLDER);
	ck_assert_uint_eq(owner.pid, reply.worker);
	ck_assert_uint_eq(owner.guardian, reply.guardian);
	close(fd);
	UNIT_WAIT(is_free(target));
}

TEST_AS_ROOT(held_already)
{
	struct hold_owner owner = { .role = HOLD_ROLE_GUARD, .pid = 5, .guardian = 6 };
	int lock = hold_take(target, &owner);
	struct hold_reply reply;

	ck_assert_int_ge(lock, 0);
	close(ask(target, &reply));
	ck_assert_uint_eq(reply.status, GPREEMPT_CLASS_BUSY);
	ck_assert_uint_eq(reply.reason, GPREEMPT_HELD);
	ck_assert_int_eq(reply.code, -EBUSY);
	ck_assert_uint_eq(reply.other, 6);
	hold_drop(target, lock);
}

/* No such process: no lock of it is left. */
TEST_AS_ROOT(no_process)
{
	struct hold_reply reply;

	close(ask(4194303, &reply));
	ck_assert_uint_eq(reply.status, GPREEMPT_CLASS_NO_TARGET);
	ck_assert(is_free(4194303));
}

TEST_AS_ROOT(not_root)
{
	struct hold_reply reply;

	ck_assert_int_eq(seteuid(65534), 0);
	close(ask(target, &reply));
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert_uint_eq(reply.status, GPREEMPT_CLASS_PERMISSION);
	ck_assert(is_free(target));
}

TEST_FIXTURE(setup, holder_teardown)
