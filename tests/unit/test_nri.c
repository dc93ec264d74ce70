// SPDX-License-Identifier: GPL-2.0-only
/* Plug-in of NRI: messages of a runtime, whole, cut off and made up. */
#include <endian.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/xattr.h>

#include "ctl/nri.h"
#include "lib/see/words.h"
#include "unit-command.h"
#include "unit-host.h"

#define NAMESPACES "batch,serving"
#define ANNOTATION "gpreempt.io/role"

/* A message that is made. */
struct made {
	uint8_t data[4096];
	size_t len;
};

static void put(struct made *m, unsigned int field, const void *data, size_t len)
{
	m->data[m->len++] = field << 3 | 2;
	m->data[m->len++] = 0x80 | (len & 0x7f);
	m->data[m->len++] = len >> 7;
	memcpy(m->data + m->len, data, len);
	m->len += len;
}

static void put_text(struct made *m, unsigned int field, const char *text)
{
	put(m, field, text, strlen(text));
}

static void put_made(struct made *m, unsigned int field, const struct made *part)
{
	put(m, field, part->data, part->len);
}

static void put_number(struct made *m, unsigned int field, uint32_t number)
{
	m->data[m->len++] = field << 3;
	for (; number >= 0x80; number >>= 7)
		m->data[m->len++] = 0x80 | (number & 0x7f);
	m->data[m->len++] = number;
}

static void put_pod(struct made *m, unsigned int field, const char *id, const char *namespace,
		    const char *key, const char *value)
{
	struct made pod = { 0 }, entry = { 0 };

	put_text(&pod, 1, id);
	put_text(&pod, 2, "a-pod");
	put_text(&pod, 4, namespace);
	put_text(&entry, 1, key);
	put_text(&entry, 2, value);
	put_made(&pod, 6, &entry);
	put_made(m, field, &pod);
}

static void put_container(struct made *m, unsigned int field, const char *id, const char *pod,
			  pid_t pid)
{
	struct made container = { 0 };

	put_text(&container, 1, id);
	put_text(&container, 2, pod);
	put_number(&container, 12, pid);
	put_made(m, field, &container);
}

/* Roles that were given, as "ID PID ROLE;". */
static char given[256];

static void note(void *arg, struct wire_bytes id, uint64_t pid, const struct gp_role_value *role)
{
	size_t at = strlen(given);

	ck_assert_ptr_eq(arg, given);
	snprintf(given + at, sizeof(given) - at, "%.*s %d %d%s;", (int)id.len, id.at, (int)pid,
		 role->role, role->words);
}

static void count(void *arg, struct wire_bytes id, uint64_t pid, const struct gp_role_value *role)
{
	ck_assert_uint_eq(id.len, 1);
	ck_assert(pid == 42 && role->role == GPREEMPT_ROLE_OFFLINE);
	++*(size_t *)arg;
}

static int each(const struct made *m, unsigned int first)
{
	*given = '\0';
	return pods_each((struct wire_bytes){ m->data, m->len }, first, NAMESPACES, note, given);
}

static const struct {
	const char *bytes;
	size_t len;
	int ret;
	uint64_t field, number;
	size_t part;
} fields[] = {
	{ "", 0, 0, 0, 0, 0 },
	{ "\x08\x05", 2, 1, 1, 5, 0 },
	{ "\x08\xac\x02", 3, 1, 1, 300, 0 },
	{ "\x12\x02xy", 4, 1, 2, 0, 2 },
	{ "\x12\x00", 2, 1, 2, 0, 0 },
	{ "\x19\x31\x32\x33\x34\x35\x36\x37\x38", 9, 1, 3, 0, 8 },
	{ "\x1d\x31\x32\x33\x34", 5, 1, 3, 0, 4 },
	{ "\x82\x01\x01x", 4, 1, 16, 0, 1 },
	/* Cut off. */
	{ "\x08", 1, -EBADMSG, 1, 0, 0 },
	{ "\x08\xac", 2, -EBADMSG, 1, 0, 0 },
	{ "\x82", 1, -EBADMSG, 0, 0, 0 },
	{ "\x12\x03xy", 4, -EBADMSG, 2, 0, 0 },
	{ "\x19\x31\x32\x33\x34\x35\x36\x37", 8, -EBADMSG, 3, 0, 0 },
	{ "\x1d\x31\x32\x33", 4, -EBADMSG, 3, 0, 0 },
	/* Lengths of 2^63 and 2^64 - 1, and a number that does not end. */
	{ "\x12\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01x", 12, -EBADMSG, 2, 0, 0 },
	{ "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x", 12, -EBADMSG, 2, 0, 0 },
	{ "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13, -EBADMSG, 1, UINT64_MAX, 0 },
	/* Groups, and types that do not exist. */
	{ "\x0b", 1, -EBADMSG, 1, 0, 0 },
	{ "\x0c", 1, -EBADMSG, 1, 0, 0 },
	{ "\x0f", 1, -EBADMSG, 1, 0, 0 },
};

TEST_EACH(a_field, ARRAY_SIZE(fields))
{
	uint8_t *copy = malloc(fields[_i].len + 1); /* the sanitizer knows its end */
	struct wire_bytes left = { copy, fields[_i].len };
	struct wire_field f;

	ck_assert_ptr_nonnull(memcpy(copy, fields[_i].bytes, fields[_i].len));
	ck_assert_int_eq(wire_next(&left, &f), fields[_i].ret);
	ck_assert_uint_eq(f.field, fields[_i].field);
	if (fields[_i].ret >= 0) {
		ck_assert_uint_eq(f.number, fields[_i].number);
		ck_assert_uint_eq(f.bytes.len, fields[_i].part);
		ck_assert_uint_eq(left.len, 0);
	}
	free(copy);
}

TEST(messages)
{
	uint8_t data[64] = { 0, 0, 0, 3, 0, 0, 0, 7, 1, 0, 'a', 'b', 'c', 0, 0 };
	struct wire_bytes left, body;
	struct wire_message head;
	size_t len;

	for (len = 0; len < 13; len++) {
		left = (struct wire_bytes){ data, len };
		ck_assert_int_eq(wire_take(&left, &head, &body), 0);
		ck_assert_uint_eq(left.len, len);
	}
	left = (struct wire_bytes){ data, 15 };
	ck_assert_int_eq(wire_take(&left, &head, &body), 1);
	ck_assert_uint_eq(be32toh(head.stream), 7);
	ck_assert_uint_eq(head.kind, WIRE_REQUEST);
	ck_assert(wire_is(body, "abc"));
	ck_assert_uint_eq(left.len, 2);
	ck_assert_int_eq(wire_take(&left, &head, &body), 0);
	/* 4 MB may come, one more byte may not, and 4 GB neither. */
	memcpy(data, "\x00\x40\x00\x00", 4);
	left = (struct wire_bytes){ data, sizeof(data) };
	ck_assert_int_eq(wire_take(&left, &head, &body), 0);
	data[3] = 1;
	ck_assert_int_eq(wire_take(&left, &head, &body), -EBADMSG);
	memset(data, 0xff, 4);
	ck_assert_int_eq(wire_take(&left, &head, &body), -EBADMSG);
}

static const struct {
	const char *namespace, *key, *value, *given;
} pods[] = {
	{ "batch", ANNOTATION, "offline", "c1 42 2;" },
	{ "serving", ANNOTATION, "online", "c1 42 1;" },
	{ "batch", ANNOTATION, "offline weight=200", "c1 42 2weight=200;" },
	{ "other", ANNOTATION, "offline", "" },
	{ "batc", ANNOTATION, "offline", "" },
	{ "batch,serving", ANNOTATION, "offline", "" },
	{ ",", ANNOTATION, "offline", "" },
	{ "", ANNOTATION, "offline", "" },
	{ "batch", ANNOTATION, "none", "" },
	{ "batch", ANNOTATION, "offline ", "" },
	{ "batch", ANNOTATION, "", "" },
	{ "batch", ANNOTATION "s", "offline", "" },
	{ "batch", "role", "offline", "" },
};

TEST_EACH(a_pod, ARRAY_SIZE(pods))
{
	struct made m = { 0 };

	ck_assert_int_eq(GPREEMPT_ROLE_ONLINE, 1);
	ck_assert_int_eq(GPREEMPT_ROLE_OFFLINE, 2);
	put_pod(&m, 1, "p1", pods[_i].namespace, pods[_i].key, pods[_i].value);
	put_container(&m, 2, "c1", "p1", 42);
	ck_assert_int_eq(each(&m, 1), 0);
	ck_assert_str_eq(given, pods[_i].given);
}

/* The runtime's list when we come: in any order, also containers that do not run. */
static void make_several(struct made *m)
{
	put_container(m, 2, "c2", "p2", 43);
	put_container(m, 2, "c3", "p1", 0);
	put_container(m, 2, "c4", "p9", 44);
	put_pod(m, 1, "p1", "batch", ANNOTATION, "offline");
	put_pod(m, 1, "p2", "serving", ANNOTATION, "online");
	put_container(m, 2, "c1", "p1", 42);
}

TEST(several)
{
	struct made m = { 0 };

	make_several(&m);
	ck_assert_int_eq(each(&m, 1), 0);
	ck_assert_str_eq(given, "c2 43 1;c1 42 2;");
	/* An event of older runtimes has its own number first. */
	m.len = 0;
	put_number(&m, 1, 7);
	put_pod(&m, 2, "p1", "batch", ANNOTATION, "offline");
	put_container(&m, 3, "c1", "p1", 42);
	ck_assert_int_eq(each(&m, 2), 0);
	ck_assert_str_eq(given, "c1 42 2;");
	m.len = 0;
	ck_assert_int_eq(each(&m, 1), 0);
	ck_assert_str_eq(given, "");
}

/* Containers, each of which is its own pod's, in the opposite order. */
static uint64_t read_many(size_t n, size_t *containers)
{
	struct made *one = calloc(1, sizeof(*one));
	uint8_t *data = malloc(n * 256);
	uint64_t start;
	size_t len = 0, i;
	char id[32];

	for (i = 0; i < 2 * n; i++) {
		one->len = 0;
		snprintf(id, sizeof(id), "p%zu", i < n ? i : 2 * n - 1 - i);
		if (i < n)
			put_pod(one, 1, id, "batch", ANNOTATION, "offline");
		else
			put_container(one, 2, "c", id, 42);
		memcpy(data + len, one->data, one->len);
		len += one->len;
	}
	*containers = 0;
	start = shr_thread_cpu_ns();
	ck_assert_int_eq(pods_each((struct wire_bytes){ data, len }, 1, NAMESPACES, count,
				   containers),
			 0);
	start = shr_thread_cpu_ns() - start;
	free(data);
	free(one);
	return start;
}

/*
 * The limit is by the time that a tenth of them takes on this processor: some 12 times as much,
 * and 100 times if each container is compared with each pod.
 */
TEST(as_many_as_a_cluster_has)
{
	uint64_t few = UINT64_MAX, many = UINT64_MAX, ns;
	size_t n, i;

	for (i = 0; i < 5; i++) {
		ns = read_many(2000, &n);
		ck_assert_uint_eq(n, 2000);
		few = ns < few ? ns : few;
	}
	for (i = 0; i < 3; i++) {
		ns = read_many(20000, &n);
		ck_assert_uint_eq(n, 20000);
		many = ns < many ? ns : many;
	}
	printf("%llu us, and %llu us for a tenth\n", (unsigned long long)many / 1000,
	       (unsigned long long)few / 1000);
	ck_assert_uint_lt(many, 40 * few);
}

/* A damaged message never makes a container that does not exist, and no byte behind it is read. */
TEST(cut_off_and_damaged)
{
	struct made whole = { 0 };
	uint32_t random = 1;
	size_t len, round;

	make_several(&whole);
	for (len = 0; len < whole.len; len++) {
		uint8_t *copy = malloc(len + 1);

		*given = '\0';
		memcpy(copy, whole.data, len);
		pods_each((struct wire_bytes){ copy, len }, 1, NAMESPACES, note, given);
		ck_assert_msg(!strstr(given, "c3") && !strstr(given, "c4"), "%s", given);
		free(copy);
	}
	for (round = 0; round < 20000; round++) {
		struct made m = whole;
		int i;

		for (i = 0; i < 4; i++) {
			random = random * 1664525 + 1013904223;
			m.data[(random >> 8) % m.len] = random >> 24;
		}
		each(&m, 1 + round % 2);
	}
}

/* The runtime's side of a connection. */
static int listen_at(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(addr.sun_path, path);
	unlink(path);
	ck_assert_int_eq(bind(fd, (void *)&addr, sizeof(addr)), 0);
	ck_assert_int_eq(listen(fd, 4), 0);
	return fd;
}

static size_t receive(int fd, unsigned int connection, uint8_t *body)
{
	uint8_t head[18];
	uint32_t n[2];
	size_t len;

	ck_assert_int_eq(recv(fd, head, sizeof(head), MSG_WAITALL), sizeof(head));
	memcpy(n, head, sizeof(n));
	ck_assert_uint_eq(be32toh(n[0]), connection);
	len = be32toh(n[1]) - 10;
	ck_assert_uint_lt(len, 128);
	/* recv() of 0 bytes would wait for the next message. */
	if (len)
		ck_assert_int_eq(recv(fd, body, len, MSG_WAITALL), len);
	body[len] = 0;
	return len;
}

/* Ask in pieces of that many bytes. */
static void ask(int fd, const char *method, const struct made *payload, size_t piece)
{
	struct made body = { 0 };
	uint8_t all[sizeof(body.data) + 10] = { [7] = 1, [8] = WIRE_REQUEST };
	uint32_t n[2];
	size_t at, len;

	put_text(&body, 1, "nri.pkg.api.v1alpha1.Plugin");
	put_text(&body, 2, method);
	if (payload)
		put_made(&body, 3, payload);
	n[0] = htobe32(body.len);
	memcpy(all, n, 4);
	memcpy(all + 10, body.data, body.len);
	for (at = 0; at < body.len + 10; at += len) {
		len = body.len + 10 - at < piece ? body.len + 10 - at : piece;
		n[0] = htobe32(WIRE_TO_US);
		n[1] = htobe32(len);
		ck_assert_int_eq(send(fd, n, 8, 0), 8);
		ck_assert_int_eq(send(fd, all + at, len, 0), len);
	}
}

static void expect(int fd, const char *answer, size_t len)
{
	uint8_t body[128];

	ck_assert_uint_eq(receive(fd, WIRE_TO_US, body), len);
	ck_assert_mem_eq(body, answer, len);
}

static int accept_plugin(int at)
{
	int fd = accept(at, NULL, NULL);
	uint8_t body[128];
	size_t len = receive(fd, WIRE_FROM_US, body);

	ck_assert_ptr_nonnull(memmem(body, len, "RegisterPlugin", 14));
	ck_assert_ptr_nonnull(memmem(body, len, "gpreempt", 8));
	return fd;
}

/* Start the plug-in. Its output is not read. */
static pid_t start_plugin(const char *path)
{
	char *argv[] = { "gpreempt-ctl", "nri",	       "--namespace", NAMESPACES,
			 "--socket",	 (char *)path, NULL };
	int unread[2];
	pid_t child;

	ck_assert_int_eq(pipe(unread), 0);
	child = fork();
	if (!child) {
		dup2(unread[1], 1);
		dup2(unread[1], 2);
		_exit(ctl_main(6, argv));
	}
	close(unread[1]);
	return child;
}

/* The plug-in answers each request, also one that it does not understand, and comes back. */
TEST_AS_ROOT(answers)
{
	char path[] = "nri.sock";
	struct made m = { 0 };
	int at = listen_at(path), fd, huge[2] = { htobe32(1), -1 };
	int none[2] = { htobe32(1), 0 }, other[3] = { htobe32(7), htobe32(1) };
	pid_t child = start_plugin(path);
	size_t i;

	fd = accept_plugin(at);
	ask(fd, "Configure", &m, 1);
	expect(fd, "\x12\x02\x10\x40", 4);
	make_several(&m);
	put_number(&m, 3, 1);
	ask(fd, "Synchronize", &m, 100);
	expect(fd, "\x12\x02\x10\x01", 4);
	m.len = 0;
	ask(fd, "Synchronize", &m, 4096);
	expect(fd, "", 0);
	ask(fd, "Synchronize", NULL, 4096);
	expect(fd, "", 0);
	put_text(&m, 1, "no pod");
	/* The plug-in prints a line for each of these: more than a pipe takes. */
	for (i = 0; i < 2000; i++) {
		ask(fd, "PostStartContainer", &m, 4096);
		expect(fd, "", 0);
	}
	ask(fd, "StateChange", &m, 4096);
	expect(fd, "", 0);
	ask(fd, "WhatComesSomeDay", &m, 7);
	expect(fd, "", 0);
	/* An empty piece, and one of a connection that there is not. */
	ck_assert_int_eq(send(fd, none, 8, 0), 8);
	ck_assert_int_eq(send(fd, other, 9, 0), 9);
	ask(fd, "StateChange", &m, 4096);
	expect(fd, "", 0);
	/* A piece without end: no protocol of NRI. */
	ck_assert_int_eq(send(fd, huge, 8, 0), 8);
	ck_assert_int_eq(recv(fd, &m, 1, 0), 0);
	close(fd);
	fd = accept_plugin(at);
	close(fd);
	fd = accept_plugin(at);
	unit_end(child);
	close(fd);
	close(at);
	unlink(path);
}

/* "" is none. */
static const char *role_of(const char *group)
{
	static char role[64];
	const char *path = unit_text("%s%s", unit_cgroup_root(), group);

	memset(role, 0, sizeof(role));
	getxattr(path, GP_ROLE_ATTRIBUTE, role, sizeof(role) - 1);
	return role;
}

static void post_start(int fd, const char *id, const char *namespace, const char *role, pid_t pid)
{
	struct made m = { 0 };

	put_pod(&m, 1, "p1", namespace, ANNOTATION, role);
	put_container(&m, 2, id, "p1", pid);
	ask(fd, "PostStartContainer", &m, 4096);
	expect(fd, "", 0);
}

/* The container's cgroup has the role, wherever its process is by then. */
TEST_AS_ROOT(which_cgroup)
{
	char path[] = "nri.sock";
	pid_t target = unit_make_sleeper(), child;
	int at = listen_at(path), fd;

	unit_cgroups_start();
	unit_cgroup_make("/pods/x-c1.scope/c1/sub");
	unit_cgroup_of(target, "0::/pods/x-c1.scope/c1/sub\n");
	child = start_plugin(path);
	fd = accept_plugin(at);
	post_start(fd, "c1", "batch", "offline", target);
	ck_assert_str_eq(role_of("/pods/x-c1.scope"), "offline");
	ck_assert_str_eq(role_of("/pods/x-c1.scope/c1"), "");
	/* An id that is no component, but in one. */
	post_start(fd, "pods/x", "serving", "online", target);
	post_start(fd, "c", "serving", "online", target);
	ck_assert_str_eq(role_of("/pods"), "");
	ck_assert_str_eq(role_of("/pods/x-c1.scope"), "offline");
	post_start(fd, "c1", "batch", "offline weight=200 max=50%", target);
	ck_assert_str_eq(role_of("/pods/x-c1.scope"), "offline weight=200 max=50%");
	/* Words that do not count are left out, and the role stays. */
	post_start(fd, "c1", "serving", "online weight=200", target);
	ck_assert_str_eq(role_of("/pods/x-c1.scope"), "online");
	unit_end(child);
	unit_end(target);
	close(fd);
	close(at);
	unlink(path);
	unit_cgroups_stop();
}
