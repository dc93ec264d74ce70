// SPDX-License-Identifier: GPL-2.0-only
/*
 * status, resume and suspend where the owner of a target is a stand-in: all
 * kinds of owners, and holders that answer late, wrongly or not at all.
 */
#include <poll.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "hold/run-dir.h"
#include "hold/holder.h"
#include "shared/socket.h"
#include "unit-ctl.h"
#include "unit-host.h"

#define START 777 /* start time of the made-up process */

/* Memory that the stand-ins and the test share. */
struct seen {
	atomic_int asked;
	atomic_int ready;
	atomic_int follower; /* has the lock that was handed over */
};

static struct seen *shared;

/* Behaviour of a stand-in. */
static struct hold_reply reply;
static int wait_for;   /* answers when so many have been asked */
static bool hangs_up;  /* closes the connection without an answer */
static bool closes;    /* the same, and lives */
static bool refuses;   /* is of another version */
static int hands_over; /* ends, and another one has this lock */

static pid_t stand_ins[4];
static size_t n_stand_ins;

static void setup(void)
{
	hold_dir_setup();
	unit_cgroups_start();
	unit_setup();
	shared = unit_share(sizeof(*shared));
	reply = (struct hold_reply){
		.queues = 2,
		.held_ns = 3 * NSEC_PER_SEC,
		.lease_ns = 60 * NSEC_PER_SEC,
		.cgroup = 1,
	};
}

static void teardown(void)
{
	if (shared->follower)
		kill(shared->follower, SIGKILL);
	while (n_stand_ins)
		unit_end(stand_ins[--n_stand_ins]);
	unit_teardown();
	unit_cgroups_stop();
}

/* To another holder, which follows at once. */
static void hand_over(void)
{
	struct hold_owner owner = { .role = HOLD_ROLE_HOLDER, .pid = 1 };
	int fd;

	if (hold_write_owner(hands_over, &owner) || fork())
		_exit(0);
	shared->follower = getpid();
	for (fd = 0; fd < 64; fd++)
		if (fd != hands_over)
			close(fd);
	alarm(UNIT_LIMIT_S);
	pause();
}

static size_t answer(void *data, struct ipc_client *client, char *buf, size_t len)
{
	uint64_t deadline = unit_soon();
	struct hold_reply r = reply;
	struct hold_request request;

	(void)data;
	(void)client;
	if (refuses)
		return IPC_UNKNOWN;
	if (closes || gp_hold_get_request(buf, len, &request))
		return 0;
	atomic_fetch_add(&shared->asked, 1);
	while (atomic_load(&shared->asked) < wait_for) {
		if (shr_now_ns() > deadline)
			_exit(1);
		shr_sleep_ns(NSEC_PER_MSEC);
	}
	if (hands_over)
		hand_over();
	if (hangs_up)
		_exit(0);
	r.worker = getpid();
	r.guardian = getppid();
	return gp_hold_put_reply(&r, buf);
}

static void serve(pid_t target)
{
	struct ipc_server_options options = {
		.path = unit_text(GP_HOLD_SOCKET, target),
		.limits = { .places = 8 },
		.locked = true,
		.one_request = true,
		.answer = answer,
	};
	struct ipc_server *server;
	struct pollfd fd = { .events = POLLIN };

	if (gp_ipc_server_start(&options, &server))
		_exit(1);
	atomic_fetch_add(&shared->ready, 1);
	fd.fd = gp_ipc_server_fd(server);
	while (poll(&fd, 1, UNIT_LIMIT_S * 1000) > 0)
		gp_ipc_server_dispatch(server);
	_exit(0);
}

/* Another process that has the lock of a target. Returns its PID. */
static pid_t stand_in(pid_t target, enum hold_role role)
{
	int before = atomic_load(&shared->ready);
	pid_t pid = fork();

	if (!pid) {
		struct hold_owner owner = {
			.role = role,
			.pid = getpid(),
			.guardian = getppid(),
		};
		int lock = hold_take(target, &owner);

		if (lock < 0)
			_exit(1);
		hands_over *= lock;
		if (role == HOLD_ROLE_HOLDER)
			serve(target);
		/* The disk has no room for the record. */
		if (role == HOLD_ROLE_UNKNOWN && ftruncate(lock, 0))
			_exit(1);
		atomic_fetch_add(&shared->ready, 1);
		for (;;)
			pause();
	}
	stand_ins[n_stand_ins++] = pid;
	UNIT_WAIT(atomic_load(&shared->ready) != before);
	return pid;
}

/*
 * Each answers only when all have been asked: a status that waits for one
 * before it asks the next would wait for ever.
 */
TEST(asked_at_once)
{
	wait_for = 3;
	stand_in(PID + 2, HOLD_ROLE_HOLDER);
	stand_in(PID + 1, HOLD_ROLE_HOLDER);
	stand_in(PID, HOLD_ROLE_HOLDER);
	set_file(unit_text("/proc/%d/cmdline", PID), "train --steps 7");
	CTL(0, "status --json");
	expect_number("holders.0.pid", PID);
	expect_text("holders.0.command", "train --steps 7");
	expect_number("holders.0.queues", 2);
	expect_number("holders.1.pid", PID + 1);
	expect_number("holders.1.queues", 2);
	expect_number("holders.2.pid", PID + 2);
	expect_number("holders.2.queues", 2);
}

/* A holder that does not answer is shown all the same, with the lock's facts. */
TEST(no_answer)
{
	pid_t first = stand_in(PID, HOLD_ROLE_HOLDER);

	hangs_up = true;
	stand_in(PID + 1, HOLD_ROLE_HOLDER);
	CTL(0, "status");
	OUT_LINE("\n%d\t%d\t%d\t2\t3s\t1m\tsuspend\t", PID, first, getpid());
	OUT_LINE("\n%d\t", PID + 1);
	OUT_LINE("\t-\tsuspend\tgpreempt-ctl resume %d\t", PID + 1);
}

TEST_EACH(roles, 4)
{
	static const struct {
		enum hold_role role;
		const char *name, *release;
	} rows[] = {
		{ HOLD_ROLE_PREEMPT, "preempt", "kill " },
		{ HOLD_ROLE_FOLLOW, "follow", "kill " },
		{ HOLD_ROLE_GUARD, "guard", "gpreempt-ctl guard release 4194242" },
		{ HOLD_ROLE_UNKNOWN, "unknown", NULL },
	};
	pid_t owner = stand_in(PID, rows[_i].role);
	const char *text = rows[_i].release;

	CTL(0, "status --json");
	expect_text("holders.0.role", rows[_i].name);
	expect_null("holders.0.queues");
	expect_null("holders.0.released_us");
	if (!text) {
		expect_null("holders.0.release_with");
		expect_null("holders.0.holder");
		ERR_HAS("process 4194242: unknown holder (lock is held); find "
			"it: fuser -v " HOLD_DIR "/4194242.lock");
	} else {
		expect_number("holders.0.holder", owner);
		if (!strcmp(text, "kill "))
			text = unit_text("kill %d", owner);
		expect_text("holders.0.release_with", text);
	}
	/* resume and suspend give the same advice, and change nothing. */
	CTL(GPREEMPT_CLASS_BUSY, "resume 4194242");
	ERR_HAS("process 4194242 is held by ");
	ERR_HAS(text ? text : "fuser -v ");
	ck_assert_ptr_null(strstr(ctl_err, "Ctrl-C"));
	CTL(GPREEMPT_CLASS_BUSY, "suspend 4194242");
	ERR_HAS(text ? text : "fuser -v ");
	ck_assert_int_eq(waitpid(owner, NULL, WNOHANG), 0);
	ck_assert_str_eq(loop.trace, "");
}

/* A command that is about to make a holder is none yet. */
TEST(being_made)
{
	stand_in(PID, HOLD_ROLE_NONE);
	CTL(0, "status");
	ck_assert_str_eq(ctl_out, "nothing is held\n");
}

/* Time that queues of a process ran while it is held: it makes and destroys them all the time. */
static void hold_churning(bool churn)
{
	reply.churn = churn;
	reply.released_ns = 2500 * NSEC_PER_MSEC;
	reply.recent_ns = 800 * NSEC_PER_MSEC;
	reply.window_ns = 10 * NSEC_PER_SEC;
	stand_in(PID, HOLD_ROLE_HOLDER);
}

TEST(released)
{
	hold_churning(false);
	CTL(0, "status --json");
	expect_number("holders.0.released_us", 2500000);
	expect_number("holders.0.released_recently_us", 800000);
	expect_number("holders.0.churn", 0);
	CTL(0, "status");
	ck_assert_ptr_null(strstr(ctl_err, "queues all the time"));
}

TEST(churn)
{
	static const char note[] = "note: process 4194242 makes and destroys queues all the time: "
				   "some of its queues ran 800ms of the last 10s\n";

	hold_churning(true);
	CTL(0, "status");
	ERR_HAS(note);
	CTL(0, "status --json");
	expect_number("holders.0.churn", 1);
	ck_assert_ptr_null(strstr(ctl_err, "queues all the time"));
	/* A suspend of what is held already says "held", too. */
	CTL(0, "suspend 4194242");
	OUT_HAS("it was held already");
	ERR_HAS(note);
}

/* The holder ends while it is asked: that is what was wanted. */
TEST(ends_when_asked)
{
	hangs_up = true;
	stand_in(PID, HOLD_ROLE_HOLDER);
	CTL(0, "resume 4194242");
	ck_assert_str_eq(ctl_out, "resumed 4194242: its holder has ended\n");
}

/* The resume has failed in part: the holder's text and status are shown. */
TEST(resume_fails)
{
	reply.status = GPREEMPT_CLASS_FAILED;
	reply.left = 1;
	/* A line break in the text begins no next step. */
	strcpy(reply.text, "resuming process 4194242 failed\nwholly");
	strcpy(reply.next, "end it first");
	stand_in(PID, HOLD_ROLE_HOLDER);
	CTL(GPREEMPT_CLASS_FAILED, "resume 4194242");
	ERR_HAS("gpreempt-ctl: resuming process 4194242 failed\\012wholly\n"
		"next: end it first\n");
	CTL(GPREEMPT_CLASS_FAILED, "resume 4194242 --json");
	expect_text("targets.0.error", "resuming process 4194242 failed\nwholly");
}

/*
 * A holder that an upgrade left running: all commands report that, none takes its silence for
 * its end, and it stays as it is.
 */
TEST(other_version)
{
	static const char text[] = "gpreempt-ctl: the holder of process 4194242 is of another "
				   "version of gpreempt\nnext: ";
	static const char *const commands[] = { "status", "status --json", "resume 4194242",
						"suspend 4194242" };
	pid_t owner;
	size_t i;

	refuses = true;
	owner = stand_in(PID, HOLD_ROLE_HOLDER);
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		CTL(GPREEMPT_CLASS_BUSY, "%s", commands[i]);
		ERR_HAS(text);
		ERR_HAS("lets the queues run");
	}
	CTL(GPREEMPT_CLASS_BUSY, "status");
	OUT_LINE("\n%d\t%d\t%d\t-\t", PID, owner, getpid());
	ck_assert_int_eq(waitpid(owner, NULL, WNOHANG), 0);
	ck_assert_str_eq(loop.trace, "");
}

/* A holder that closes each connection, and lives: that is not its end, either. */
TEST(closes_and_lives)
{
	pid_t owner;

	closes = true;
	owner = stand_in(PID, HOLD_ROLE_HOLDER);
	CTL(GPREEMPT_CLASS_FAILED, "resume 4194242");
	ERR_HAS("the holder of process 4194242 does not answer\n");
	CTL(GPREEMPT_CLASS_BUSY, "suspend 4194242");
	ERR_HAS("process 4194242 cannot be traced now");
	ck_assert_int_eq(waitpid(owner, NULL, WNOHANG), 0);
	ck_assert_str_eq(loop.trace, "");
}

/* The end of the one that was asked is what counts. */
TEST(another_follows)
{
	hands_over = 1;
	stand_in(PID, HOLD_ROLE_HOLDER);
	CTL(0, "resume 4194242");
	OUT_HAS("resumed 4194242: its holder has ended\n");
}

/* A holder without its socket that does not end: the user can end it. */
TEST(resume_without_socket)
{
	stand_in(PID, HOLD_ROLE_HOLDER);
	unlink(unit_text(GP_HOLD_SOCKET, PID));
	CTL(GPREEMPT_CLASS_FAILED, "resume 4194242");
	ERR_HAS("the holder of process 4194242 does not answer\n"
		"next: its end lets the queues run: gpreempt-ctl status shows "
		"its PID, then kill -9\n");
}

TEST_FIXTURE(setup, teardown)
