// SPDX-License-Identifier: GPL-2.0-only
/*
 * The socket layer under holders and guard: server, client, packets, and whose connection
 * makes place for a new one.
 */
#include <grp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "shared/socket.h"
#include "unit.h"

#define KIND 0x74657374

struct message {
	uint64_t big;
	int number;
	char text[4];
};

static const struct message message = {
	.big = UINT64_MAX,
	.number = INT32_MIN,
	.text = "abc",
};

/* The largest one that there is room for. */
struct largest {
	char text[IPC_MAX_PACKET - sizeof(struct ipc_head)];
};

static char buf[IPC_MAX_PACKET + 1];
static struct message out;

static int get(size_t len)
{
	memset(&out, 'x', sizeof(out));
	return gp_ipc_get(KIND, buf, len, &out, sizeof(out));
}

TEST(there_and_back)
{
	size_t len = gp_ipc_put(KIND, &message, sizeof(message), buf);

	ck_assert_uint_eq(len, sizeof(struct ipc_head) + sizeof(message));
	ck_assert_int_eq(get(len), 0);
	ck_assert_mem_eq(&out, &message, sizeof(message));
}

TEST(largest_packet)
{
	static struct largest in, got;
	size_t len;

	memset(&in, 'a', sizeof(in));
	len = gp_ipc_put(KIND, &in, sizeof(in), buf);
	ck_assert_uint_eq(len, IPC_MAX_PACKET);
	ck_assert_int_eq(gp_ipc_get(KIND, buf, len, &got, sizeof(got)), 0);
	ck_assert_mem_eq(&got, &in, sizeof(in));
	ck_assert_int_eq(gp_ipc_get(KIND, buf, len - 1, &got, sizeof(got)), -EPROTO);
	ck_assert_int_eq(gp_ipc_get(KIND, buf, len + 1, &got, sizeof(got)), -EPROTO);
	ck_assert_int_eq(gp_ipc_get(KIND, buf, 0, &got, sizeof(got)), -EPROTO);
}

/* Every other size is refused: another one in the head, and a packet that is cut or longer. */
TEST(other_sizes)
{
	size_t len, full = gp_ipc_put(KIND, &message, sizeof(message), buf);
	struct ipc_head head = { .kind = KIND };

	for (len = 0; len <= sizeof(buf); len++) {
		gp_ipc_put(KIND, &message, sizeof(message), buf);
		ck_assert_int_eq(get(len), len == full ? 0 : -EPROTO);
		head.size = len;
		memcpy(buf, &head, sizeof(head));
		ck_assert_int_eq(get(len), len == full ? 0 : -EPROTO);
	}
	/* A refused packet is not written. */
	ck_assert_uint_eq(out.big, 0x7878787878787878);
}

#define SIZE (sizeof(struct ipc_head) + sizeof(struct message))
static const struct ipc_head bad[] = {
	{ 0, SIZE },	    { KIND + 1, SIZE },	  { KIND, 0 },		 { KIND, SIZE - 1 },
	{ KIND, SIZE + 1 }, { KIND, UINT32_MAX }, { IPC_REFUSAL, SIZE },
};

TEST_EACH(hostile_packet, ARRAY_SIZE(bad))
{
	struct ipc_head good = { KIND, SIZE };

	memset(buf, 'a', sizeof(buf));
	ck_assert_int_eq(get(SIZE), -EPROTO);
	memcpy(buf, &bad[_i], sizeof(bad[_i]));
	ck_assert_int_eq(get(SIZE), -EPROTO);
	memcpy(buf, &good, sizeof(good));
	ck_assert_int_eq(get(SIZE), 0);
}

TEST(refused_requests)
{
	int code = 0;

	ck_assert_uint_eq(gp_ipc_refuse(-EPROTO, buf), 12);
	ck_assert_int_eq(gp_ipc_get(IPC_REFUSAL, buf, 12, &code, sizeof(code)), 0);
	ck_assert_int_eq(code, -EPROTO);
}

static const struct ipc_limits limits = {
	.places = 8,
	.for_root = 2,
	.per_user = 3,
};

static struct ipc_place place[8];

static void use(size_t i, uid_t uid, uint64_t last_ns, bool busy)
{
	place[i] = (struct ipc_place){
		.used = true,
		.uid = uid,
		.last_ns = last_ns,
		.busy = busy,
	};
}

TEST(a_user_takes_its_own_place)
{
	memset(place, 0, sizeof(place));
	use(0, 1000, 30, false);
	use(1, 1000, 10, true);
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 1000), 2);
	use(2, 1000, 20, false);
	/* The user has all its places: its longest idle one goes, not a busy one. */
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 1000), 2);
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 1001), 3);
	place[0].busy = true;
	place[2].busy = true;
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 1000), -EUSERS);
}

TEST(root_has_places)
{
	int i;

	memset(place, 0, sizeof(place));
	for (i = 0; i < 6; i++)
		use(i, 1000 + i / 3, i, true);
	/* Two are left, which are root's. */
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 1005), -EUSERS);
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 0), 6);
	use(6, 0, 1, true);
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 0), 7);
	use(7, 0, 1, true);
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 0), -EUSERS);
	/* An idle connection of a user goes before root is refused. */
	place[4].busy = false;
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 0), 4);
}

/* The user with most places loses one to a user that has fewer, and not to one with more. */
TEST(the_heaviest_user_makes_place)
{
	int i;

	memset(place, 0, sizeof(place));
	for (i = 0; i < 3; i++)
		use(i, 1000, 10 - i, false);
	use(3, 1001, 1, false);
	use(4, 1001, 2, false);
	use(5, 1002, 0, false);
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 1003), 2);
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 1002), 2);
	for (i = 0; i < 3; i++)
		place[i].busy = true;
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 1003), 3);
	place[3].busy = place[4].busy = place[5].busy = true;
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 1003), -EUSERS);
}

/* The place of the user that was silent longest goes, wherever it is. */
TEST(the_longest_idle_goes)
{
	size_t i, oldest;

	for (oldest = 0; oldest < limits.per_user; oldest++) {
		memset(place, 0, sizeof(place));
		for (i = 0; i < limits.per_user; i++)
			use(i, 1000, i == oldest ? 1 : 10 + i, false);
		ck_assert_int_eq(gp_ipc_place_find(place, &limits, 1000), oldest);
	}
}

/* The two ends of a connection. */
static int pair[2];

static void connect_pair(void)
{
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
}

/* A reply that is longer than the buffer is no reply. */
TEST(long_reply)
{
	char buf[8] = "12345678";

	connect_pair();
	ck_assert_int_eq(gp_ipc_send(pair[0], buf, 8, unit_soon()), 0);
	ck_assert_int_eq(gp_ipc_recv(pair[1], buf, 7, unit_soon()), -EPROTO);
}

/* Returns the client's result for that packet. */
static ssize_t receive(uint32_t kind, int code)
{
	char buf[IPC_MAX_PACKET];
	ssize_t n = gp_ipc_put(kind, &code, sizeof(code), buf);

	connect_pair();
	ck_assert_int_eq(gp_ipc_send(pair[0], buf, n, unit_soon()), 0);
	return gp_ipc_recv(pair[1], buf, sizeof(buf), unit_soon());
}

/* A refusal is a negative code in a packet of that kind only. */
TEST(refusals)
{
	ck_assert_int_eq(receive(IPC_REFUSAL, -EUSERS), -EUSERS);
	ck_assert_int_eq(receive(IPC_REFUSAL, 5), 12);
	ck_assert_int_eq(receive(IPC_REFUSAL + 1, -EUSERS), 12);
}

static void ignore(int signal)
{
	(void)signal;
}

/* Signals that come all the time do not prolong a wait. */
TEST(signals_do_not_prolong)
{
	struct itimerval often = {
		.it_value.tv_usec = 2000, .it_interval.tv_usec = 2000,
	}, never = { 0 };
	struct sigaction act = { .sa_handler = ignore };
	char buf[8];
	ssize_t n;

	connect_pair();
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	n = gp_ipc_recv(pair[0], buf, sizeof(buf), shr_now_ns() + 100 * NSEC_PER_MSEC);
	setitimer(ITIMER_REAL, &never, NULL);
	ck_assert_int_eq(n, -ETIMEDOUT);
}

#define STRANGER 65534
#define ALLOWED	 4711
#define MANY	 4

/* The directory is outside the build tree: other users have to get there. */
static char dir[64], path[80];
static struct ipc_server *server;

static void make_dir(void)
{
	strcpy(dir, "/tmp/gpreempt-unit-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	chmod(dir, 0755);
	snprintf(path, sizeof(path), "%s/sock", dir);
}

static void stop(void)
{
	gp_ipc_server_stop(server);
	server = NULL;
}

static void teardown(void)
{
	stop();
	/* The directory is empty. */
	ck_assert_int_eq(rmdir(dir), 0);
}

static unsigned int n_gone;

/* "busy" is answered with "busy", and keeps the place; "end" and "?" end it. */
static size_t answer(void *data, struct ipc_client *client, char *buf, size_t len)
{
	(void)data;
	if (len == 3 && !memcmp(buf, "end", 3))
		return 0;
	if (*buf == '?')
		return IPC_UNKNOWN;
	client->busy = len == 4 && !memcmp(buf, "busy", 4);
	if (len == 3 && !memcmp(buf, "uid", 3))
		len = sprintf(buf, "%u %d", client->uid, client->pid);
	return len;
}

static void gone(void *data, struct ipc_client *client)
{
	(void)data;
	(void)client;
	n_gone++;
}

static const uid_t allowed[] = { ALLOWED, 1, ALLOWED };

static struct ipc_server_options options(size_t n_uids)
{
	n_gone = 0;
	return (struct ipc_server_options){
		.path = path,
		.uids = allowed,
		.n_uids = n_uids,
		.limits = { .places = MANY, .for_root = 1, .per_user = 2 },
		.answer = answer,
		.gone = gone,
	};
}

static void start(size_t n_uids)
{
	struct ipc_server_options with = options(n_uids);

	ck_assert_int_eq(gp_ipc_server_start(&with, &server), 0);
}

static int start_and_connect(void)
{
	start(0);
	return gp_ipc_connect(path, unit_soon());
}

static void dispatch(void)
{
	int i;

	for (i = 0; i < 3; i++)
		gp_ipc_server_dispatch(server);
}

/* Ask one question on a connection; the answer is in buf, terminated. */
static ssize_t talk(int fd, const char *text, char buf[IPC_MAX_PACKET])
{
	ssize_t n;

	strcpy(buf, text);
	n = gp_ipc_send(fd, buf, strlen(text), unit_soon());
	dispatch();
	if (!n || n == -ECONNRESET)
		n = gp_ipc_recv(fd, buf, IPC_MAX_PACKET - 1, unit_soon());
	if (n >= 0)
		buf[n] = '\0';
	return n;
}

TEST(question_and_answer)
{
	char buf[IPC_MAX_PACKET], expected[64];
	int a = start_and_connect(), b;
	struct stat st;

	b = gp_ipc_connect(path, unit_soon());
	ck_assert(!stat(path, &st) && (st.st_mode & 0777) == 0600);
	ck_assert(gp_ipc_server_private(server));
	ck_assert_int_eq(talk(b, "b", buf), 1);
	ck_assert_str_eq(buf, "b");
	sprintf(expected, "%u %d", geteuid(), getpid());
	ck_assert_int_eq(talk(a, "uid", buf), strlen(expected));
	ck_assert_str_eq(buf, expected);
	ck_assert_int_eq(talk(a, "end", buf), -ECONNRESET);
	ck_assert_uint_eq(n_gone, 1);
	close(a);
	/* A client that dies is counted out. */
	close(b);
	dispatch();
	ck_assert_uint_eq(n_gone, 2);
	stop();
	gp_ipc_server_stop(NULL);
}

/* Sending to a server that is gone, and waiting for one that goes. */
TEST(server_gone)
{
	char buf[IPC_MAX_PACKET];
	int fd = start_and_connect();

	ck_assert_int_eq(talk(fd, "x", buf), 1);
	stop();
	ck_assert_int_eq(gp_ipc_ask(fd, buf, 1, sizeof(buf), unit_soon()), -ECONNRESET);
	ck_assert_int_eq(gp_ipc_send(fd, buf, 1, unit_soon()), -ECONNRESET);
	ck_assert_int_eq(gp_ipc_recv(fd, buf, sizeof(buf), unit_soon()), -ECONNRESET);
	close(fd);
	ck_assert_int_eq(gp_ipc_connect(path, unit_soon()), -ENOENT);
}

/* A server that is stopped accepts no client: its queue fills up. */
TEST(stopped_server)
{
	int fds[512], n = 0, ret;
	char buf[8] = "";

	start(0);
	do {
		ret = gp_ipc_connect(path, shr_now_ns() + NSEC_PER_SEC);
		if (ret >= 0)
			fds[n++] = ret;
	} while (ret >= 0 && n < (int)ARRAY_SIZE(fds));
	ck_assert_int_eq(ret, -ETIMEDOUT);
	/* The first is in the queue, and gets no answer. */
	ck_assert_int_eq(gp_ipc_ask(fds[0], buf, 1, sizeof(buf), shr_now_ns() + NSEC_PER_MSEC),
			 -ETIMEDOUT);
	/* The limit may be a second less the smallest part of one. */
	unit_frozen_ns = shr_now_ns();
	ck_assert_int_eq(gp_ipc_connect(path, unit_frozen_ns + NSEC_PER_SEC - NSEC_PER_USEC),
			 -ETIMEDOUT);
	unit_frozen_ns = 0;
	while (n)
		close(fds[--n]);
}

/* The program has no standard input, and the lock gets its number. */
TEST(descriptor_0)
{
	char name[128] = "", lock[96];

	snprintf(lock, sizeof(lock), "%s.lock", path);
	close(STDIN_FILENO);
	start(0);
	ck_assert_int_gt(readlink("/proc/self/fd/0", name, sizeof(name) - 1), 0);
	ck_assert_str_eq(name, lock);
	stop();
	ck_assert_int_lt(fcntl(STDIN_FILENO, F_GETFD), 0);
}

/* The places of a user: its idle connections go, its busy ones stay. */
TEST(places_of_root)
{
	char buf[IPC_MAX_PACKET];
	int fds[MANY + 1], i;

	start(0);
	for (i = 0; i < MANY; i++) {
		fds[i] = gp_ipc_connect(path, unit_soon());
		ck_assert_int_eq(talk(fds[i], i == 1 ? "idle" : "busy", buf), 4);
	}
	fds[MANY] = gp_ipc_connect(path, unit_soon());
	ck_assert_int_eq(talk(fds[MANY], "busy", buf), 4);
	ck_assert_uint_eq(n_gone, 1);
	ck_assert_int_eq(talk(fds[1], "busy", buf), -ECONNRESET);
	/* No idle one is left: the newcomer learns why it is not taken. */
	close(fds[1]);
	fds[1] = gp_ipc_connect(path, unit_soon());
	ck_assert_int_eq(talk(fds[1], "busy", buf), -EUSERS);
	ck_assert_int_eq(gp_ipc_recv(fds[1], buf, sizeof(buf), unit_soon()), -ECONNRESET);
	for (i = 0; i < MANY + 1; i++)
		close(fds[i]);
	stop();
	ck_assert_uint_eq(n_gone, MANY + 1);
}

TEST(one_request_only)
{
	struct ipc_server_options with = options(0);
	char buf[IPC_MAX_PACKET];
	int fd;

	with.one_request = true;
	ck_assert_int_eq(gp_ipc_server_start(&with, &server), 0);
	fd = gp_ipc_connect(path, unit_soon());
	ck_assert_int_eq(talk(fd, "x", buf), 1);
	ck_assert_int_eq(talk(fd, "x", buf), -ECONNRESET);
	close(fd);
}

/* The largest request is answered, a larger one is none. */
TEST(sizes)
{
	static char large[IPC_MAX_PACKET + 1];
	int fd = start_and_connect(), i;

	for (i = IPC_MAX_PACKET - 1; i <= IPC_MAX_PACKET; i++) {
		ck_assert_int_eq(gp_ipc_send(fd, large, i, unit_soon()), 0);
		dispatch();
		ck_assert_int_eq(gp_ipc_recv(fd, large, sizeof(large), unit_soon()), i);
	}
	ck_assert_int_eq(gp_ipc_send(fd, large, i, unit_soon()), 0);
	dispatch();
	ck_assert_int_eq(gp_ipc_recv(fd, large, i, unit_soon()), -EPROTO);
	ck_assert_int_eq(gp_ipc_recv(fd, large, i, unit_soon()), -ECONNRESET);
	close(fd);
	/* None at all is the end. */
	fd = gp_ipc_connect(path, unit_soon());
	ck_assert_int_eq(gp_ipc_send(fd, large, 0, unit_soon()), 0);
	dispatch();
	ck_assert_int_eq(gp_ipc_recv(fd, large, i, unit_soon()), -ECONNRESET);
	close(fd);
	ck_assert_uint_eq(n_gone, 2);
}

/* Its client gets an error, and the connection is closed. */
TEST(unknown_request)
{
	char buf[IPC_MAX_PACKET];
	int fd = start_and_connect();

	ck_assert_int_eq(talk(fd, "?", buf), -EPROTO);
	ck_assert_int_eq(talk(fd, "x", buf), -ECONNRESET);
	close(fd);
	ck_assert_uint_eq(n_gone, 1);
}

/* Two that start at the same time: one listens, and keeps its files. */
TEST(two_servers)
{
	struct ipc_server_options with = options(0);
	struct ipc_server *second = NULL;
	char buf[IPC_MAX_PACKET], lock[96];
	struct stat st;
	int fd;

	start(0);
	snprintf(lock, sizeof(lock), "%s.lock", path);
	ck_assert_int_eq(gp_ipc_server_start(&with, &second), -EADDRINUSE);
	/* The socket need not be there yet, or any more. */
	unlink(path);
	ck_assert_int_eq(gp_ipc_server_start(&with, &second), -EADDRINUSE);
	ck_assert_int_eq(stat(lock, &st), 0);
	stop();
	start(0);
	fd = gp_ipc_connect(path, unit_soon());
	ck_assert_int_eq(talk(fd, "x", buf), 1);
	close(fd);
}

/* The file of another server is not removed at our end. */
TEST(not_ours)
{
	struct ipc_server_options with = options(0);
	struct ipc_server *second;

	start(0);
	unlink(path);
	with.locked = true;
	ck_assert_int_eq(gp_ipc_server_start(&with, &second), 0);
	ck_assert_uint_ne(gp_ipc_server_inode(server), gp_ipc_server_inode(second));
	stop();
	ck_assert_int_eq(access(path, F_OK), 0);
	gp_ipc_server_stop(second);
	ck_assert_int_eq(access(path, F_OK), -1);
}

/* The socket of a killed server is replaced; a file that is no socket is not. */
TEST(leftovers)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct ipc_server_options with = options(0);
	char lock[96];
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(lock, sizeof(lock), "%s.lock", path);
	strcpy(address.sun_path, path);
	ck_assert_int_eq(bind(fd, (void *)&address, sizeof(address)), 0);
	close(fd);
	close(open(lock, O_CREAT | O_RDWR, 0600));
	start(0);
	stop();
	close(open(path, O_CREAT | O_RDWR, 0600));
	ck_assert_int_eq(gp_ipc_server_start(&with, &server), -EEXIST);
	ck_assert_int_eq(unlink(path), 0);
}

/* No descriptors: an error, and neither socket nor lock is left. */
TEST(start_fails)
{
	struct rlimit old, low;
	struct ipc_server_options with = options(0);
	rlim_t n;
	int ret = -1;

	getrlimit(RLIMIT_NOFILE, &old);
	for (n = 0; ret && n < old.rlim_cur; n++) {
		low = (struct rlimit){ n, old.rlim_max };
		setrlimit(RLIMIT_NOFILE, &low);
		ret = gp_ipc_server_start(&with, &server);
		setrlimit(RLIMIT_NOFILE, &old);
		if (ret)
			ck_assert_int_eq(access(path, F_OK), -1);
	}
	ck_assert_int_gt(n, 3);
	ck_assert_int_eq(ret, 0);
	stop();
	/* A name that is too long, a directory that does not exist. */
	with.path = "/tmp/123456789/123456789/123456789/123456789/123456789"
		    "/123456789/123456789/123456789/123456789/123456789/12345";
	ck_assert_int_eq(gp_ipc_server_start(&with, &server), -ENAMETOOLONG);
	ck_assert_int_eq(gp_ipc_connect(with.path, unit_soon()), -ENAMETOOLONG);
	with.path = "/nonexistent/sock";
	ck_assert_int_eq(gp_ipc_server_start(&with, &server), -ENOENT);
}

/* Returns the answer to a user's question; exit statuses are small. */
static int ask_as(uid_t uid)
{
	int status;
	pid_t child = fork();

	if (!child) {
		char buf[64] = "uid";
		ssize_t n;
		int fd;

		if (setgroups(0, NULL) || setegid(uid) || seteuid(uid))
			_exit(255);
		fd = gp_ipc_connect(path, unit_soon());
		if (fd < 0)
			_exit(-fd);
		n = gp_ipc_ask(fd, buf, 3, sizeof(buf), unit_soon());
		if (n < 0)
			_exit(100 - n);
		_exit(strtoul(buf, NULL, 10) == uid ? 0 : 254);
	}
	while (!waitpid(child, &status, WNOHANG)) {
		gp_ipc_server_dispatch(server);
		shr_sleep_ns(NSEC_PER_MSEC);
	}
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* The kernel keeps others away; the server would, too. Only root can be another user. */
TEST_AS_ROOT(other_users)
{
	start(0);
	ck_assert_int_eq(ask_as(0), 0);
	ck_assert_int_eq(ask_as(ALLOWED), EACCES);
	chmod(path, 0666);
	ck_assert_int_eq(ask_as(ALLOWED), 100 + EACCES);
	stop();

	start(ARRAY_SIZE(allowed));
	ck_assert_int_eq(ask_as(0), 0);
	ck_assert_int_eq(ask_as(ALLOWED), 0);
	ck_assert_int_eq(ask_as(1), 0);
	if (gp_ipc_server_private(server))
		ck_assert_int_eq(ask_as(STRANGER), EACCES);
	ck_assert_int_eq(chmod(path, 0666), 0);
	ck_assert_int_eq(ask_as(STRANGER), 100 + EACCES);
}

TEST_FIXTURE(make_dir, teardown)
