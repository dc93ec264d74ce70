// SPDX-License-Identifier: GPL-2.0-only
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "cli/cli.h"
#include "guard/guard.h"
#include "hold/role.h"
#include "lib/see/words.h"
#include "shared/cgroup.h"
#include "shared/util.h"
#include "nri.h"

/* How a field is encoded. */
enum { VARINT, FIXED64, LENGTH, FIXED32 = 5 };

bool wire_is(struct wire_bytes bytes, const char *text)
{
	return bytes.len == strlen(text) && !memcmp(bytes.at, text, bytes.len);
}

static int take_varint(struct wire_bytes *left, uint64_t *out)
{
	unsigned int shift;
	uint8_t byte;

	*out = 0;
	for (shift = 0; shift < 64 && left->len; shift += 7) {
		byte = *left->at++;
		left->len--;
		*out |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return 0;
	}
	return -EBADMSG;
}

static int take_bytes(struct wire_bytes *left, uint64_t len, struct wire_bytes *out)
{
	if (len > left->len)
		return -EBADMSG;
	*out = (struct wire_bytes){ left->at, len };
	left->at += len;
	left->len -= len;
	return 0;
}

int wire_next(struct wire_bytes *left, struct wire_field *out)
{
	uint64_t key, len;
	int ret;

	*out = (struct wire_field){ 0 };
	if (!left->len)
		return 0;
	ret = take_varint(left, &key);
	if (ret)
		return ret;
	out->field = key >> 3;
	switch (key & 7) {
	case VARINT:
		return take_varint(left, &out->number) ?: 1;
	case LENGTH:
		return take_varint(left, &len) ?: take_bytes(left, len, &out->bytes) ?: 1;
	case FIXED64:
		return take_bytes(left, 8, &out->bytes) ?: 1;
	case FIXED32:
		return take_bytes(left, 4, &out->bytes) ?: 1;
	default:
		return -EBADMSG;
	}
}

int wire_find(struct wire_bytes from, uint64_t field, struct wire_field *out)
{
	struct wire_field next;
	int ret;

	*out = (struct wire_field){ 0 };
	while ((ret = wire_next(&from, &next)) > 0)
		if (next.field == field)
			*out = next;
	return ret;
}

int wire_take(struct wire_bytes *left, struct wire_message *head, struct wire_bytes *body)
{
	size_t len;

	if (left->len < sizeof(*head))
		return 0;
	memcpy(head, left->at, sizeof(*head));
	len = be32toh(head->len);
	if (len > WIRE_MAX)
		return -EBADMSG;
	if (left->len - sizeof(*head) < len)
		return 0;
	left->at += sizeof(*head);
	left->len -= sizeof(*head);
	return take_bytes(left, len, body) ?: 1;
}

/* Numbers of fields. */
enum { POD_ID = 1, POD_NAMESPACE = 4, POD_ANNOTATIONS = 6 };
enum { KEY = 1, VALUE = 2 };
enum { CONTAINER_ID = 1, CONTAINER_POD = 2, CONTAINER_PID = 12 };

struct pod {
	struct wire_bytes id;
	struct gp_role_value role;
};

struct pods {
	const char *namespaces;
	SHR_ARRAY(struct pod, with_role);
	pods_fn *fn;
	void *arg;
};

static bool is_listed(const char *list, struct wire_bytes name)
{
	size_t len;

	for (; name.len && *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		if (len == name.len && !memcmp(list, name.at, len))
			return true;
	}
	return false;
}

static int read_annotation(struct wire_bytes entry, struct gp_role_value *role)
{
	struct wire_field key, value;
	int ret = wire_find(entry, KEY, &key) ?: wire_find(entry, VALUE, &value);

	if (!ret && wire_is(key.bytes, ROLE_ANNOTATION))
		gp_role_parse((const char *)value.bytes.at, value.bytes.len, role);
	return ret;
}

static int read_pod(struct pods *p, struct wire_bytes from)
{
	struct gp_role_value role = { .role = GPREEMPT_ROLE_NONE };
	struct wire_field id, next;
	struct pod *pod;
	int ret = wire_find(from, POD_ID, &id) ?: wire_find(from, POD_NAMESPACE, &next);

	if (ret || !id.bytes.len || !is_listed(p->namespaces, next.bytes))
		return ret;
	while ((ret = wire_next(&from, &next)) > 0)
		if (next.field == POD_ANNOTATIONS && read_annotation(next.bytes, &role))
			return -EBADMSG;
	if (ret || role.role == GPREEMPT_ROLE_NONE)
		return ret;
	pod = shr_add(&p->with_role);
	if (!pod)
		return -ENOMEM;
	*pod = (struct pod){ id.bytes, role };
	return 0;
}

static int compare_bytes(struct wire_bytes a, struct wire_bytes b)
{
	size_t len = a.len < b.len ? a.len : b.len;
	int ret = len ? memcmp(a.at, b.at, len) : 0;

	return ret ? ret : (a.len > b.len) - (a.len < b.len);
}

static int compare_pods(const void *a, const void *b)
{
	const struct pod *x = a, *y = b;

	return compare_bytes(x->id, y->id);
}

/* The first one of that id, or the end: pods are sorted by now. */
static const struct pod *find_pod(const struct pods *p, struct wire_bytes id)
{
	size_t from = 0, to = p->with_role.count, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (compare_bytes(p->with_role.items[middle].id, id) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return p->with_role.items ? p->with_role.items + from : NULL;
}

static int read_container(struct pods *p, struct wire_bytes from)
{
	struct wire_field id, pod_id, pid;
	const struct pod *pod;
	int ret = wire_find(from, CONTAINER_ID, &id)		  ?:
			  wire_find(from, CONTAINER_POD, &pod_id) ?:
			  wire_find(from, CONTAINER_PID, &pid);

	/* A container that does not run has no process. */
	if (ret || !pid.number || !id.bytes.len)
		return ret;
	for (pod = find_pod(p, pod_id.bytes);
	     pod != shr_end(&p->with_role) && !compare_bytes(pod->id, pod_id.bytes); pod++)
		p->fn(p->arg, id.bytes, pid.number, &pod->role);
	return 0;
}

static int read_each(struct pods *p, struct wire_bytes message, unsigned int field,
		     int (*read_one)(struct pods *p, struct wire_bytes from))
{
	struct wire_field next;
	int ret;

	while ((ret = wire_next(&message, &next)) > 0) {
		ret = next.field == field ? read_one(p, next.bytes) : 0;
		if (ret)
			return ret;
	}
	return ret;
}

int pods_each(struct wire_bytes message, unsigned int first, const char *namespaces, pods_fn *fn,
	      void *arg)
{
	struct pods p = { .namespaces = namespaces, .fn = fn, .arg = arg };
	int ret = read_each(&p, message, first, read_pod);

	if (p.with_role.count)
		qsort(p.with_role.items, p.with_role.count, sizeof(struct pod), compare_pods);
	if (!ret)
		ret = read_each(&p, message, first + 1, read_container);
	free(p.with_role.items);
	return ret;
}

/*
 * A plug-in of NRI, the interface of containerd and CRI-O, that gives the cgroups of
 * containers the roles that pods ask for. It observes: no answer has a wish in it. It
 * hears of a container when that has started, so that none waits for it. What a runtime
 * says is not a tenant's, but annotations and names in it are: they are only compared, and the
 * words behind a role are those that guard knows, with figures.
 */

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

/* Numbers of fields in the messages that we receive. */
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
	/* the runtime's list at our start, which comes in parts */
	struct buffer all;
};

static int append(struct buffer *b, const void *data, size_t len)
{
	uint8_t *more = realloc(b->data, b->len + len + 1);

	if (!more)
		return -ENOMEM;
	/* An empty buffer has no address. */
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
static void give(void *arg, struct wire_bytes id, uint64_t pid, const struct gp_role_value *role)
{
	struct gp_role_value value = *role;
	struct guard_config_error err;
	char cgroup[SHR_CGROUP_PATH], text[GP_ROLE_TEXT];
	int ret;

	(void)arg;
	ret = pid > INT32_MAX ? -ESRCH : shr_cgroup_of(pid, cgroup, sizeof(cgroup));
	if (ret == -ENAMETOOLONG)
		ctl_note("process %d gets no role: the path of its cgroup is too long", (int)pid);
	if (ret || !shr_cgroup_cut(cgroup, (const char *)id.at, id.len))
		return;
	if (guard_config_words(value.role, value.words, NULL, &err)) {
		ctl_note("%s: the words behind its role do not count: %s", cgroup, err.text);
		*value.words = '\0';
	}
	gp_role_text(&value, text);
	ret = role_give(cgroup, &value);
	if (!ret)
		ctl_say("role %s for %s", text, cgroup);
	else if (ret != -ENOENT)
		ctl_note("%s gets no role: %s", cgroup, strerror(-ret));
}

static int give_each(const struct nri *n, struct wire_bytes payload, unsigned int first)
{
	return pods_each(payload, first, n->args->namespaces, give, NULL);
}

/* Take the runtime's list. Parts of a protocol buffer, one behind the other, are one buffer. */
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

/* Answer a request, whatever it is. */
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

/* Check the answer to our question: may we be a plug-in? */
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
	/* recv() of 0 bytes would wait for the next message. */
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

/* Serve until the connection ends, which it does with an error. */
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
	ret = ctl_need_root("give cgroups a role");
	if (ret)
		return ret;
	/* The runtime must not wait for our reader. Without memory the output stays as it is. */
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
		"chooses roles, and the words behind them, as in \"offline weight=200\".\n",
	.examples = "  gpreempt-ctl nri --namespace batch,serving\n",
	.options = options,
};
