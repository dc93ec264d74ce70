// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plug-in of NRI, the interface of containerd and CRI-O, that gives the cgroups of
 * containers the roles that pods ask for. It observes: no answer has a wish in it. It
 * hears of a container when that has started, so that none waits for it. What a runtime
 * says is not a tenant's, but annotations and names in it are: they are only compared.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "agent/lossy-output.h"
#include "agent/role.h"
#include "ctl/command/ctl.h"
#include "ctl/nri/pods.h"
#include "ctl/nri/wire.h"
#include "lib/select/words.h"
#include "shared/cgroup.h"
#include "shared/clock.h"
#include "shared/notify.h"

#define RETRY_NS	(1 * NSEC_PER_SEC)
#define NOTICE		"note: %zu lines were not read in time, and dropped\n"
#define MAX_SYNCHRONIZE (64 * 1024 * 1024)

/* Protocol buffers that we send: the request to be a plug-in, with name and place (90). */
#define SERVICE "\x0a\x1cnri.pkg.api.v1alpha1.Runtime"
#define ASKED	"\x12\x0eRegisterPlugin"
#define PLUGIN	"\x1a\x0e\x0a\x08gpreempt\x12\x02\x39\x30"
static const char registration[] = SERVICE ASKED PLUGIN;
/* A response with a number in the second field, or with nothing. */
static const char with_event[] = "\x12\x02\x10\x40"; /* PostStartContainer */
static const char with_more[] = "\x12\x02\x10\x01";
static const char with_nothing[] = "";

/* Numbers of fields of what we receive. */
enum { METHOD = 2, PAYLOAD = 3, STATUS = 1, MORE = 3 };

struct nri_args {
	const char *namespaces;
	const char *socket;
};

struct buffer {
	uint8_t *data;
	size_t len;
};

struct nri {
	const struct nri_args *args;
	int fd;
	struct buffer got[WIRE_CONNECTIONS]; /* no whole message yet */
	struct buffer all;		     /* what the runtime has when we come, in parts */
};

static int append(struct buffer *b, const void *data, size_t len)
{
	uint8_t *more = realloc(b->data, b->len + len + 1);

	if (!more)
		return -ENOMEM;
	/* What is not there has no place. */
	if (len)
		memcpy(more + b->len, data, len);
	b->data = more;
	b->len += len;
	return 0;
}

static int send_message(const struct nri *n, unsigned int connection, unsigned int kind,
			uint32_t stream, const char *body)
{
	struct {
		struct wire_piece piece;
		struct wire_message head;
		char body[sizeof(registration)];
	} __attribute__((packed)) m = { .head.kind = kind };
	size_t len = strlen(body), all = len + sizeof(m) - sizeof(m.body);
	ssize_t sent;

	m.piece.connection = htobe32(connection);
	m.piece.len = htobe32(sizeof(m.head) + len);
	m.head.len = htobe32(len);
	m.head.stream = stream;
	memcpy(m.body, body, len);
	sent = send(n->fd, &m, all, MSG_NOSIGNAL);
	return sent < 0 ? -errno : (size_t)sent < all ? -EAGAIN : 0;
}

/*
 * The container's cgroup, whichever one below it the process is in by now. The id is not
 * in the path if the process is another one.
 */
static void give(void *arg, struct wire_bytes id, uint64_t pid, enum gpreempt_role role)
{
	char cgroup[SHR_CGROUP_PATH];
	int ret;

	(void)arg;
	ret = pid > INT32_MAX ? -ESRCH : shr_cgroup_of(pid, cgroup, sizeof(cgroup));
	if (ret == -ENAMETOOLONG)
		ctl_note("process %d gets no role: the path of its cgroup is too long", (int)pid);
	if (ret || !shr_cgroup_cut(cgroup, (const char *)id.at, id.len))
		return;
	ret = role_give(cgroup, role);
	if (!ret)
		ctl_say("role %s for %s", gp_role_name(role), cgroup);
	else if (ret != -ENOENT)
		ctl_note("%s gets no role: %s", cgroup, strerror(-ret));
}

static int give_each(const struct nri *n, struct wire_bytes payload, unsigned int first)
{
	return pods_each(payload, first, n->args->namespaces, give, NULL);
}

/* Parts of a protocol buffer, one behind the other, are one. */
static int synchronize(struct nri *n, struct wire_bytes payload, const char **response)
{
	struct wire_field more = { 0 };
	int ret = n->all.len + payload.len > MAX_SYNCHRONIZE ?
			  -EMSGSIZE :
		  wire_find(payload, MORE, &more) ?:
						    append(&n->all, payload.at, payload.len);

	if (!ret && more.number) {
		*response = with_more;
		return 0;
	}
	if (!ret)
		ret = give_each(n, (struct wire_bytes){ n->all.data, n->all.len }, 1);
	n->all.len = 0;
	return ret;
}

/* Newer runtimes have a method for each event, older ones one for most of them. */
static int act(struct nri *n, struct wire_bytes method, struct wire_bytes payload,
	       const char **response)
{
	if (wire_is(method, "Configure"))
		*response = with_event;
	else if (wire_is(method, "Synchronize"))
		return synchronize(n, payload, response);
	else if (wire_is(method, "PostStartContainer"))
		return give_each(n, payload, 1);
	else if (wire_is(method, "StateChange"))
		return give_each(n, payload, 2);
	return 0;
}

/* Each request has an answer, whatever it is. */
static int answer(struct nri *n, uint32_t stream, struct wire_bytes request)
{
	const char *response = with_nothing;
	struct wire_field method, payload;
	int ret = wire_find(request, METHOD, &method)		?:
			  wire_find(request, PAYLOAD, &payload) ?:
			  act(n, method.bytes, payload.bytes, &response);

	if (ret)
		ctl_note("a request of the runtime could not be used: %s", strerror(-ret));
	return send_message(n, WIRE_TO_US, WIRE_RESPONSE, stream, response);
}

/* To what we have asked: may we be a plug-in? */
static int check_response(struct wire_bytes response)
{
	struct wire_field status;
	int ret = wire_find(response, STATUS, &status);

	if (!ret && status.bytes.len)
		ret = -ECONNREFUSED;
	if (!ret)
		ctl_say("the runtime has accepted the plug-in");
	return ret;
}

static int handle_all(struct nri *n, unsigned int connection)
{
	struct buffer *got = &n->got[connection];
	struct wire_bytes left = { got->data, got->len }, body;
	struct wire_message head;
	int ret;

	while ((ret = wire_take(&left, &head, &body)) > 0) {
		ret = 0;
		if (connection == WIRE_FROM_US)
			ret = check_response(body);
		else if (head.kind == WIRE_REQUEST)
			ret = answer(n, head.stream, body);
		if (ret)
			return ret;
	}
	memmove(got->data, left.at, left.len);
	got->len = left.len;
	return ret;
}

static int receive(const struct nri *n, void *to, size_t len)
{
	/* With nothing to read it would wait for what comes next. */
	ssize_t got = len ? recv(n->fd, to, len, MSG_WAITALL) : 0;

	return got < 0 ? -errno : (size_t)got < len ? -ECONNRESET : 0;
}

static int take_piece(struct nri *n)
{
	__cleanup_free uint8_t *data = NULL;
	struct wire_piece piece;
	int ret = receive(n, &piece, sizeof(piece));
	size_t len = be32toh(piece.len);

	if (ret || len > WIRE_MAX + sizeof(struct wire_message))
		return ret ?: -EBADMSG;
	data = malloc(len + 1);
	ret = data ? receive(n, data, len) : -ENOMEM;
	piece.connection = be32toh(piece.connection);
	if (ret || !piece.connection || piece.connection >= WIRE_CONNECTIONS)
		return ret;
	return append(&n->got[piece.connection], data, len) ?: handle_all(n, piece.connection);
}

static int connect_to(const char *path)
{
	const struct timeval patience = { .tv_sec = 1 };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd, ret;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!connect(fd, (void *)&addr, sizeof(addr)))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

/* Until the connection ends, which it does with an error. */
static int serve(const struct nri_args *args)
{
	struct nri n = { .args = args, .fd = connect_to(args->socket) };
	int ret = n.fd < 0 ? n.fd :
			     send_message(&n, WIRE_FROM_US, WIRE_REQUEST, htobe32(1), registration);

	while (!ret)
		ret = take_piece(&n);
	free(n.got[WIRE_TO_US].data);
	free(n.got[WIRE_FROM_US].data);
	free(n.all.data);
	if (n.fd >= 0)
		close(n.fd);
	return ret;
}

static int run_nri(void *data)
{
	const struct nri_args *args = data;
	int ret, last = 0;

	if (!args->namespaces)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE,
				     "gpreempt-ctl nri --namespace batch,serving",
				     "no namespace is listed: no pod could have a role");
	ret = ctl_need_root(0);
	if (ret)
		return ret;
	/* The runtime must not wait for who reads us. Without memory it is as it was. */
	lossy_output_start_both(NOTICE, NOTICE);
	notify_manager("READY=1");
	for (;; shr_sleep_ns(RETRY_NS)) {
		ret = serve(args);
		if (ret != last)
			ctl_note("%s: %s; it is tried again each second", args->socket,
				 strerror(-ret));
		last = ret;
	}
}

static const struct nri_args defaults = { .socket = "/var/run/nri/nri.sock" };

static const struct ctl_option options[] = {
	{ "namespace", CTL_NAME, offsetof(struct nri_args, namespaces), "LIST",
	  "namespaces whose pods may have a role (batch,serving)" },
	{ "socket", CTL_FILE, offsetof(struct nri_args, socket), "FILE",
	  "the socket of NRI (/var/run/nri/nri.sock)" },
	{ 0 },
};

const struct ctl_command ctl_nri = {
	.name = "nri",
	.run = run_nri,
	.args_size = sizeof(struct nri_args),
	.defaults = &defaults,
	.summary = "Give pods of Kubernetes the roles that they ask for.",
	.details =
		"It is a plug-in of NRI, the interface of containerd (1.7 and later) and CRI-O.\n"
		"A pod with the annotation gpreempt.io/role: offline (or online) in a namespace\n"
		"of the list gets that role for the cgroups of its containers: see role. Those\n"
		"that run when it starts get theirs, too. It observes only, and hears of a\n"
		"container when that has started, so no container waits for it. When the runtime\n"
		"restarts, it connects again. Each user that may make pods in a listed namespace\n"
		"chooses roles.\n",
	.options = options,
};
