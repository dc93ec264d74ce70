// SPDX-License-Identifier: GPL-2.0-only
/* Locks and sockets of holders; HOLD_DIR is a directory of the tests. */
#include <sys/resource.h>

#include "hold/run-dir.h"
#include "hold/client.h"
#include "unit-host.h"
#include "unit.h"

static struct hold_owner owner;

static void expect_owner(pid_t pid)
{
	owner.pid = 0;
	ck_assert_int_eq(hold_read_owner(PID, &owner), 0);
	ck_assert_uint_eq(owner.pid, pid);
}

TEST(directory)
{
	struct stat st;

	ck_assert_int_eq(stat(HOLD_DIR, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0700);
	/* Made private again, if it was not. */
	chmod(HOLD_DIR, 0777);
	ck_assert_int_eq(hold_dir_prepare(), 0);
	stat(HOLD_DIR, &st);
	ck_assert_int_eq(st.st_mode & 0777, 0700);
}

TEST(directory_of_another_user)
{
	ck_assert_int_eq(rmdir(HOLD_DIR), 0);
	ck_assert_int_eq(symlink("/tmp", HOLD_DIR), 0);
	ck_assert_int_eq(hold_dir_prepare(), -EPERM);
	unlink(HOLD_DIR);
}

TEST(one_lock)
{
	struct hold_owner in = {
		.role = HOLD_ROLE_HOLDER,
		.pid = 815,
		.guardian = 814,
	};
	struct hold_owners owners = { 0 };
	int lock = hold_lock(PID);

	ck_assert_int_ge(lock, 0);
	ck_assert_int_eq(hold_lock(PID), -EWOULDBLOCK);
	ck_assert_int_ge(hold_lock(PID + 1), 0);
	/* The target is held, also while its owner has not written a record. */
	ck_assert_int_eq(hold_read_owner(PID, &owner), 0);
	ck_assert_int_eq(owner.role, HOLD_ROLE_UNKNOWN);
	ck_assert_int_eq(hold_write_owner(lock, &in), 0);
	ck_assert_int_eq(hold_read_owner(PID, &owner), 0);
	ck_assert_int_eq(owner.role, HOLD_ROLE_HOLDER);
	ck_assert_uint_eq(owner.pid, 815);
	ck_assert_uint_eq(owner.guardian, 814);
	ck_assert(hold_skip_owner(&owners, 814));
	ck_assert(hold_skip_owner(&owners, 815));
	ck_assert(!hold_skip_owner(&owners, PID));
	hold_owners_free(&owners);
	close(lock);
	ck_assert_int_eq(hold_read_owner(PID, &owner), -ENOENT);
	ck_assert(!hold_skip_owner(&owners, 815));
	hold_owners_free(&owners);
}

/* The next owner has the lock before anyone sees it free: the first has ended. */
TEST(followed_at_once)
{
	struct hold_owner in = { .role = HOLD_ROLE_HOLDER, .pid = 815 };
	int lock = hold_take(PID, &in);

	ck_assert_int_ge(lock, 0);
	ck_assert(hold_wait_for_end(PID, 814));
	ck_assert(!hold_wait_for_end(PID, 815));
	in = (struct hold_owner){ .role = HOLD_ROLE_NONE, .pid = 813 };
	ck_assert_int_eq(hold_write_owner(lock, &in), 0);
	ck_assert(!hold_wait_for_end(PID, 815));
	hold_drop(PID, lock);
	ck_assert(hold_wait_for_end(PID, 815));
}

#define STAT "4711 (a) b) S 1 4711 4711 %u -1 4194560"

/* The packing is that of tty_nr in proc(5): bits 31 to 20 and 7 to 0 are the minor number. */
TEST_EACH(from, 9)
{
	static const struct {
		unsigned int tty;
		const char *cgroup, *from;
	} rows[] = {
		{ 136 << 8 | 3, "/user.slice/session-4.scope", "pts/3" },
		{ 136 << 8 | 1 << 20 | 4, "", "pts/260" },
		{ 4 << 8 | 1, "/user.slice/session-4.scope", "session-4.scope" },
		{ 0, "/system.slice/system-g.slice/gpreempt-guard@x.service",
		  "gpreempt-guard@x.service" },
		{ 0, "/user.slice/user@0.service/app.slice/run-1.scope/below", "run-1.scope" },
		{ 0, "/docker/0123", "" },
		{ 0, "/.service/.scope/", "" },
		{ 0, "/a\033[2J b\x7f.scope", "a?[2J?b?.scope" },
		{ 0, "/0123456789012345678901234567890123456789012345.service",
		  "0123456789012345678901234567890123456789012345." },
	};
	char buf[HOLD_FROM_SIZE];

	hold_find_from(unit_text(STAT, rows[_i].tty), rows[_i].cgroup, buf);
	ck_assert_str_eq(buf, rows[_i].from);
}

static void take_on_terminal(const char *terminal)
{
	struct hold_owner in = { .role = HOLD_ROLE_HOLDER, .pid = 815, .guardian = 814 };
	char text[HOLD_OWNER_TEXT];
	pid_t holder;
	int lock;

	/* The first terminal that the leader of a session opens is its own. */
	if (setsid() < 0 || open(terminal, O_RDWR) < 0)
		_exit(1);
	lock = hold_take(PID, &in);
	holder = fork();
	if (!holder)
		_exit(setsid() < 0 || hold_write_owner(lock, &in));
	if (unit_status(holder) || hold_read_owner(PID, &owner))
		_exit(2);
	hold_owner_text(&owner, text);
	_exit(!!strcmp(text, unit_text("gpreempt-ctl suspend (815) from %s", terminal + 5)));
}

/* A holder has left the terminal of the command that took the lock for it, and names it. */
TEST(from_is_kept)
{
	int pty = posix_openpt(O_RDWR | O_NOCTTY);
	pid_t child;

	if (pty < 0 || grantpt(pty) || unlockpt(pty)) {
		unit_skip("from_is_kept", "no pseudo-terminal here: %s", strerror(errno));
		return;
	}
	child = fork();
	if (!child)
		take_on_terminal(ptsname(pty));
	ck_assert_int_eq(unit_status(child), 0);
}

/* A lock outlives a copy of it, and ends with the last. */
TEST(shared_lock)
{
	int lock = hold_lock(PID), status, end[2];
	pid_t child;

	ck_assert_int_eq(pipe(end), 0);
	child = fork();
	if (!child) {
		close(end[1]);
		_exit(read(end[0], &status, 1) != 0);
	}
	close(lock);
	ck_assert_int_eq(hold_lock(PID), -EWOULDBLOCK);
	close(end[1]);
	waitpid(child, &status, 0);
	ck_assert_int_ge(hold_lock(PID), 0);
}

TEST(leftovers)
{
	const char *path = unit_text(GP_HOLD_SOCKET, PID);
	int lock = hold_lock(PID);

	fclose(fopen(path, "w"));
	close(lock);
	/* Reading finds no owner, and removes the file. */
	ck_assert_int_eq(access(path, F_OK), 0);
	ck_assert_int_eq(hold_read_owner(PID, &owner), -ENOENT);
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert_int_eq(hold_list(NULL, NULL), 0);
}

static int others = -1;

static void remove_lock(void)
{
	ck_assert_int_eq(unlink(HOLD_DIR "/4194242.lock"), 0);
}

/* A lock on a file that was removed is none. */
TEST(removed_under_us)
{
	int old = hold_lock(PID);

	remove_lock();
	ck_assert_int_ge(hold_lock(PID), 0);
	ck_assert_int_eq(hold_lock(PID), -EWOULDBLOCK);
	close(old);
	ck_assert_int_eq(hold_lock(PID), -EWOULDBLOCK);
}

static int add_up(void *arg, pid_t target)
{
	*(int *)arg += target;
	return 0;
}

TEST(list)
{
	int sum = 0;

	hold_lock(100);
	hold_lock(20);
	fclose(fopen(HOLD_DIR "/x.lock", "w"));
	fclose(fopen(HOLD_DIR "/3.lockx", "w"));
	fclose(fopen(HOLD_DIR "/4.sock", "w"));
	ck_assert_int_eq(hold_list(add_up, &sum), 0);
	ck_assert_int_eq(sum, 120);
}

TEST(garbage_in_lock)
{
	int lock = hold_lock(PID);

	ck_assert_int_eq(write(lock, "gpreempt-lock 9 x\n", 18), 18);
	ck_assert_int_eq(hold_read_owner(PID, &owner), 0);
	ck_assert_int_eq(owner.role, HOLD_ROLE_UNKNOWN);
	ck_assert_int_eq(pwrite(lock, "gpreempt-lock 1 role=77 pid=1 guardian=2\n", 41, 0), 41);
	ck_assert_int_eq(hold_read_owner(PID, &owner), 0);
	ck_assert_int_eq(owner.role, HOLD_ROLE_UNKNOWN);
}

/* Make the disk full for this process. */
static void limit_files(rlim_t size)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = size;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The lock is not taken without its record: status could not show it. */
TEST(no_room)
{
	struct hold_owner in = { .role = HOLD_ROLE_FOLLOW, .pid = 815 };
	int lock;

	limit_files(0);
	ck_assert_int_eq(hold_take(PID, &in), -EFBIG);
	ck_assert_int_eq(hold_read_owner(PID, &owner), -ENOENT);
	limit_files(50);
	ck_assert_int_lt(hold_take(PID, &in), 0);
	ck_assert_int_eq(hold_read_owner(PID, &owner), -ENOENT);
	limit_files(4096);
	lock = hold_take(PID, &in);
	ck_assert_int_ge(lock, 0);
	/* A record that cannot be changed stays as it is. */
	limit_files(0);
	in.pid = 816;
	ck_assert_int_eq(hold_write_owner(lock, &in), -EFBIG);
	expect_owner(815);
	limit_files(4096);
	in.pid = 7;
	ck_assert_int_eq(hold_write_owner(lock, &in), 0);
	expect_owner(7);
	hold_drop(PID, lock);
	ck_assert_int_eq(hold_read_owner(PID, &owner), -ENOENT);
}

/* A lock names no owner: the process that has it open is the owner. */
TEST(unknown_owner)
{
	struct hold_owners owners = { 0 };
	int lock = hold_lock(PID);

	ck_assert(hold_skip_owner(&owners, getpid()));
	ck_assert(!hold_skip_owner(&owners, getppid()));
	close(lock);
	hold_owners_free(&owners);
	ck_assert(!hold_skip_owner(&owners, getpid()));
}

/* Its owner goes after we have opened its file: that lock would be no one's. */
TEST(removed_while_taking)
{
	int lock;

	unit_before_flock = remove_lock;
	lock = hold_lock(PID);
	ck_assert_int_ge(lock, 0);
	ck_assert_int_eq(hold_lock(PID), -EWOULDBLOCK);
}

/* The last one that has a copy removes the file, and only then is the lock free. */
TEST(dropped_by_the_last)
{
	struct hold_owner in = { .role = HOLD_ROLE_HOLDER, .pid = 815 };
	int lock = hold_take(PID, &in), copy = dup(lock);

	hold_drop(PID, lock);
	expect_owner(815);
	ck_assert_int_eq(hold_lock(PID), -EWOULDBLOCK);
	hold_drop(PID, copy);
	ck_assert_int_ne(access(HOLD_DIR "/4194242.lock", F_OK), 0);
	ck_assert_int_eq(hold_read_owner(PID, &owner), -ENOENT);
}

/* A process that comes late with the lock of a removed file leaves the next one's. */
TEST(dropped_late)
{
	struct hold_owner in = { .role = HOLD_ROLE_GUARD, .pid = 816 };
	int old = hold_lock(PID);

	remove_lock();
	ck_assert_int_ge(hold_take(PID, &in), 0);
	hold_drop(PID, old);
	expect_owner(816);
}

static void take_over(void)
{
	struct hold_owner in = { .role = HOLD_ROLE_GUARD, .pid = 817 };

	hold_drop(PID, others);
	ck_assert_int_ge(hold_take(PID, &in), 0);
}

/* A new owner comes after we have opened the file of the last one. */
TEST(replaced_while_reading)
{
	others = hold_lock(PID);
	unit_before_flock = take_over;
	expect_owner(817);
}

TEST_AS_ROOT(another_owners_directory)
{
	ck_assert_int_eq(chown(HOLD_DIR, 12345, -1), 0);
	ck_assert_int_eq(hold_dir_prepare(), -EPERM);
	ck_assert_int_eq(chown(HOLD_DIR, 0, -1), 0);
	ck_assert_int_eq(hold_dir_prepare(), 0);
}

TEST(no_directory)
{
	ck_assert_int_eq(rmdir(HOLD_DIR), 0);
	ck_assert_int_eq(hold_lock(PID), -ENOENT);
	ck_assert_int_eq(hold_read_owner(PID, &owner), -ENOENT);
	ck_assert_int_eq(hold_list(NULL, NULL), 0);
	ck_assert_uint_eq(hold_socket_inode(PID), 0);
}

/* Sentences for the user about it, each with its next step. */
TEST(texts)
{
	static const struct {
		enum hold_role role;
		const char *what, *next;
	} rows[] = {
		{ HOLD_ROLE_HOLDER, "gpreempt-ctl suspend (815)", "gpreempt-ctl resume 4194242" },
		{ HOLD_ROLE_PREEMPT, "gpreempt-ctl preempt (815)", "kill 815" },
		{ HOLD_ROLE_FOLLOW, "gpreempt-ctl follow (815)", "kill 815" },
		{ HOLD_ROLE_GUARD, "gpreempt-ctl guard (814)",
		  "gpreempt-ctl guard release 4194242" },
		{ HOLD_ROLE_UNKNOWN, "unknown holder (its lock is held)",
		  "fuser -v " HOLD_DIR "/4194242.lock" },
		{ HOLD_ROLE_NONE, "by another gpreempt-ctl", "try again" },
	};
	struct hold_reply why;
	size_t i;
	int lock;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		owner = (struct hold_owner){
			.role = rows[i].role,
			.pid = 815,
			.guardian = 814,
		};
		lock = hold_lock(PID);
		if (owner.role == HOLD_ROLE_UNKNOWN)
			ck_assert_int_eq(write(lock, "x", 1), 1);
		else
			ck_assert_int_eq(hold_write_owner(lock, &owner), 0);
		hold_not_taken(&why, -EWOULDBLOCK, PID);
		hold_drop(PID, lock);
		ck_assert_ptr_nonnull(strstr(why.text, rows[i].what));
		ck_assert_ptr_nonnull(strstr(why.next, rows[i].next));
	}
	hold_not_taken(&why, -ENOSPC, PID);
	ck_assert_str_eq(why.text,
			 "cannot lock process 4194242 in " HOLD_DIR ": No space left on device");
	ck_assert_str_eq(why.next, "make room in " HOLD_DIR " and try again");
	hold_not_taken(&why, -EROFS, PID);
	ck_assert_ptr_nonnull(strstr(why.text, "Read-only file system"));
	owner.role = HOLD_ROLE_GUARD;
	lock = hold_take(PID, &owner);
	hold_not_taken(&why, -EWOULDBLOCK, PID);
	ck_assert_ptr_nonnull(strstr(why.text, "gpreempt-ctl guard (814)"));
	close(lock);
}

/* A pause without an entry in the journal is refused for the reason that the directory has. */
TEST(not_noted)
{
	struct hold_reply why;

	hold_not_noted(&why, -ENOSPC, PID);
	ck_assert_str_eq(why.text, "cannot note process 4194242 in " HOLD_DIR
				   ", and without that it is not paused: No space left on device");
	ck_assert_str_eq(why.next, "make room in " HOLD_DIR " and try again");
	hold_not_noted(&why, -EALREADY, PID);
	ck_assert_str_eq(why.text, "process 4194242 is paused by gpreempt-ctl suspend");
	ck_assert_str_eq(why.next, "release it first: gpreempt-ctl resume 4194242");
	hold_not_noted(&why, -EPROTO, PID);
	ck_assert_ptr_nonnull(strstr(why.text, "4194242"));
	ck_assert_ptr_null(strstr(why.text, "cannot note"));
	ck_assert_ptr_nonnull(strstr(why.next, "gpreempt-ctl queues 4194242"));
}

/* Let another command that only looks go between two of our tries. */
static void other_leaves(void)
{
	close(others);
}

static void first_try(void)
{
	unit_before_flock = other_leaves;
}

TEST(locked_for_a_moment)
{
	int lock;

	others = hold_lock(PID);
	unit_before_flock = first_try;
	lock = hold_lock(PID);
	ck_assert_int_ge(lock, 0);
	ck_assert_int_eq(hold_lock(PID), -EWOULDBLOCK);
	close(lock);
}

/* The program has no standard input, and the file gets its number. */
TEST(descriptor_0)
{
	int lock = hold_lock(PID);

	owner = (struct hold_owner){ .role = HOLD_ROLE_FOLLOW, .pid = 815 };
	ck_assert_int_eq(hold_write_owner(lock, &owner), 0);
	close(STDIN_FILENO);
	expect_owner(815);
	close(lock);
	ck_assert_int_eq(hold_lock(PID), STDIN_FILENO);
}

TEST_FIXTURE(hold_dir_setup, NULL)
