// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command of guard --policy: it reads facts of the tenants with work, one JSON object a line,
 * and writes for each the order in which they have their turns.
 *
 * A thread of its own asks it, one question at a time, and takes the lock only to copy facts and to
 * set ranks: so a command that hangs or floods makes no other thread wait. An answer in time ranks
 * the tenants until the answer to the next question is there, or is late. A command that ends, is
 * silent or writes something else is killed, and another one is started later. Without an answer
 * that counts, the order of the figures decides.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <json-c/json.h>

#include "cli/table.h"
#include "guard.h"

#define RETRY_NS NSEC_PER_SEC
#define LOOK_NS	 (100 * NSEC_PER_MSEC) /* between two looks whether guard ends */

/* Facts for a question, copied under the lock. */
struct facts {
	uint64_t now;
	uint64_t nodes;	    /* nodes on which a process waits for a slot */
	unsigned int slots; /* on each node */
	uint32_t gpu_id[GUARD_NODES];
	struct {
		char name[sizeof(struct gp_role_own)];
		unsigned int number; /* in the policy */
		struct gp_policy_tenant state;
	} tenant[GUARD_WORDS];
	size_t n;
};

struct guard_ask {
	pthread_t thread;
	pthread_cond_t wake;

	/* Under guard's lock: */
	bool wanted;
	char event[160]; /* empty: none */

	/* Members of the thread alone. */
	pid_t child; /* 0: it was collected */
	int fd;	     /* socket that is its input and output; -1: it was killed, or not started */
	int theirs;
	uint64_t retry_ns; /* not started before then */
	uint64_t number;   /* number of the last question to this worker */
	struct facts facts;
	char answer[4096];
	size_t got;
	struct shr_report_pause late, failed;
};

static void take_facts(struct facts *f, const struct guard *guard)
{
	const struct gpreempt_policy *p = guard->policy;
	const struct guard_config *c = &guard->config;
	size_t i;

	f->now = p->now;
	f->nodes = p->contested;
	f->slots = p->options.slots;
	f->n = f->nodes ? c->n[0] : 0;
	memcpy(f->gpu_id, guard->common->gpu_id, sizeof(f->gpu_id));
	for (i = 0; i < f->n; i++) {
		snprintf(f->tenant[i].name, sizeof(f->tenant[i].name), "%s", c->tenant[0][i].word);
		f->tenant[i].number = c->tenant[0][i].number;
		f->tenant[i].state = p->tenant[f->tenant[i].number];
	}
}

static struct json_object *tenant_json(const struct facts *f, size_t i, unsigned int node)
{
	const struct gp_policy_tenant *t = &f->tenant[i].state;
	const struct gp_policy_seat *seat = &t->seat[node];
	struct json_object *o = json_object_new_object();

	out_add(o, "tenant", json_object_new_string(f->tenant[i].name));
	out_add(o, "weight", out_json_number(t->wish.weight));
	out_add(o, "used_us", out_json_number(seat->used / GP_POLICY_CHARGE / NSEC_PER_USEC));
	out_add(o, "waited_us",
		out_json_number(seat->runs ? 0 : (f->now - seat->ran_at) / NSEC_PER_USEC));
	out_add(o, "runs", out_json_flag(seat->runs));
	return o;
}

static struct json_object *node_json(const struct facts *f, unsigned int node)
{
	struct json_object *o = json_object_new_object(), *tenants = json_object_new_array();
	size_t i;

	out_add(o, "gpu_id", out_json_number(f->gpu_id[node]));
	for (i = 0; i < f->n; i++)
		if (f->tenant[i].state.seat[node].works)
			json_object_array_add(tenants, tenant_json(f, i, node));
	out_add(o, "tenants", tenants);
	return o;
}

static struct json_object *facts_json(const struct facts *f, uint64_t number)
{
	struct json_object *o = json_object_new_object(), *nodes = json_object_new_array();
	unsigned int node;

	out_add(o, "question", out_json_number(number));
	out_add(o, "now_us", out_json_number(f->now / NSEC_PER_USEC));
	out_add(o, "slots", out_json_number(f->slots));
	for (node = 0; node < GUARD_NODES; node++)
		if (f->nodes >> node & 1)
			json_object_array_add(nodes, node_json(f, node));
	out_add(o, "nodes", nodes);
	return o;
}

/* The command's process, with a group of its own. */
static int run_command(void *arg)
{
	const struct guard *guard = arg;
	sigset_t none;
	int i;

	setpgid(0, 0);
	if (dup2(guard->ask->theirs, STDIN_FILENO) < 0 ||
	    dup2(guard->ask->theirs, STDOUT_FILENO) < 0 || capabilities_keep(0))
		return 126;
	for (i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execl("/bin/sh", "sh", "-c", guard->options->policy, NULL);
	return 127;
}

/* NULL: the order of the figures decides. */
static void set_ranks(struct guard *guard, const unsigned int *rank)
{
	pthread_mutex_lock(&guard->lock);
	gp_policy_rank(guard->policy, rank);
	pthread_mutex_unlock(&guard->lock);
}

static void report(struct guard *guard, struct shr_report_pause *pause, const char *text)
{
	if (!shr_report_due(pause, shr_now_ns()))
		return;
	pthread_mutex_lock(&guard->lock);
	snprintf(guard->ask->event, sizeof(guard->ask->event), "the command of --policy %s", text);
	pthread_mutex_unlock(&guard->lock);
}

static bool is_gone(struct guard_ask *a)
{
	int status;

	return shr_child_gone(&a->child, &status);
}

static void kill_command(struct guard_ask *a)
{
	shr_close(&a->fd);
	if (a->child)
		kill(-a->child, SIGKILL);
	is_gone(a);
}

static void give_up(struct guard *guard, const char *why)
{
	char text[128];

	kill_command(guard->ask);
	set_ranks(guard, NULL);
	guard->ask->retry_ns = shr_later_ns(shr_now_ns(), RETRY_NS);
	snprintf(text, sizeof(text), "%s; another one is started after 1 s", why);
	report(guard, &guard->ask->failed, text);
}

/* Start it if it is time for that. */
static void start_command(struct guard *guard)
{
	struct guard_ask *a = guard->ask;
	pid_t child = -1;
	int fd[2];

	/* A command that not even SIGKILL has ended gets no second one beside it. */
	if (shr_now_ns() < a->retry_ns || !is_gone(a))
		return;
	if (!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd)) {
		a->fd = fd[0];
		a->theirs = fd[1];
		child = shr_child_start(run_command, guard, &a->theirs, 1);
		close(a->theirs);
	}
	if (child < 0) {
		give_up(guard, "cannot be started");
		return;
	}
	a->child = child;
	a->number = 0;
	setpgid(child, child);
}

/* A name that no tenant has is ignored: it may be gone. */
static bool rank_tenant(const struct facts *f, const char *name, unsigned int number,
			unsigned int *rank)
{
	size_t i;

	for (i = 0; name && i < f->n; i++)
		if (!strcmp(f->tenant[i].name, name) && number < rank[f->tenant[i].number])
			rank[f->tenant[i].number] = number;
	return name;
}

/* NULL: the line is not one JSON value and nothing else. */
static struct json_object *parse_line(const char *line)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *o = NULL;

	if (tokener) {
		json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
		o = json_tokener_parse_ex(tokener, line, strlen(line) + 1);
		json_tokener_free(tokener);
	}
	return o;
}

static bool read_order(const struct guard_ask *a, unsigned int *rank)
{
	struct json_object *o = parse_line(a->answer), *number, *order, *name;
	bool valid = json_object_object_get_ex(o, "question", &number) &&
		     json_object_get_int64(number) == (int64_t)a->number &&
		     json_object_object_get_ex(o, "order", &order) &&
		     json_object_is_type(order, json_type_array);
	size_t i;

	memset(rank, 0xff, GPREEMPT_POLICY_TENANTS * sizeof(*rank));
	for (i = 0; valid && i < json_object_array_length(order); i++) {
		name = json_object_array_get_idx(order, i);
		valid = json_object_is_type(name, json_type_string) &&
			rank_tenant(&a->facts, json_object_get_string(name), i, rank);
	}
	json_object_put(o);
	return valid;
}

/* Take what the command has written. True: the answer is whole, or *why says why it is none. */
static bool take_answer(struct guard_ask *a, unsigned int *rank, const char **why)
{
	ssize_t n = recv(a->fd, a->answer + a->got, sizeof(a->answer) - a->got, MSG_DONTWAIT);
	char *end;

	if (n < 0 && errno == EAGAIN)
		return false;
	*why = "has ended";
	if (n <= 0)
		return true;
	a->got += n;
	end = memchr(a->answer, '\n', a->got);
	if (!end && a->got < sizeof(a->answer))
		return false;
	*why = "has written what is no order";
	if (!end || end + 1 != a->answer + a->got)
		return true;
	*end = '\0';
	if (read_order(a, rank))
		*why = NULL;
	return true;
}

/*
 * Have the command answer a question. NULL, or why it failed. A late answer is waited for, too: the
 * next question finds a command that has answered the one before.
 */
static const char *exchange(struct guard *guard, const char *question, size_t left)
{
	uint64_t patience = guard->sim ? GUARD_MUTE_NS : GUARD_ANSWER_NS;
	uint64_t now = shr_now_ns(), end = shr_later_ns(now, patience);
	unsigned int rank[GPREEMPT_POLICY_TENANTS];
	struct guard_ask *a = guard->ask;
	const char *why = NULL;
	bool late = false;

	a->got = 0;
	while (!atomic_load(&guard->quit)) {
		struct pollfd p = { .fd = a->fd, .events = POLLIN | (left ? POLLOUT : 0) };
		struct timespec ts = shr_timespec(end - now < LOOK_NS ? end - now : LOOK_NS);
		ssize_t n;

		ppoll(&p, 1, &ts, NULL);
		now = shr_now_ns();
		if (now >= end && late)
			return "does not answer";
		if (now >= end) {
			late = true;
			end = shr_later_ns(now, GUARD_MUTE_NS);
			set_ranks(guard, NULL);
			report(guard, &a->late, "did not answer in time: its order does not count");
		}
		if (p.revents & ~POLLOUT && take_answer(a, rank, &why)) {
			if (!why && !late)
				set_ranks(guard, rank);
			return why;
		}
		n = left ? send(a->fd, question, left, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
		if (n < 0 && errno != EAGAIN)
			return "has ended";
		question += n > 0 ? n : 0;
		left -= n > 0 ? n : 0;
	}
	return NULL;
}

static void ask(struct guard *guard)
{
	struct guard_ask *a = guard->ask;
	struct json_object *o;
	const char *why;
	char *question;
	int len;

	pthread_mutex_lock(&guard->lock);
	take_facts(&a->facts, guard);
	pthread_mutex_unlock(&guard->lock);
	if (!a->facts.n)
		return;
	o = facts_json(&a->facts, ++a->number);
	len = asprintf(&question, "%s\n",
		       json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
								 JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
	if (len < 0)
		return;
	why = exchange(guard, question, len);
	free(question);
	if (why)
		give_up(guard, why);
}

/* Start the command, or ask it. */
static void ask_or_start(struct guard *guard)
{
	if (guard->ask->fd < 0)
		start_command(guard);
	else
		ask(guard);
}

static void *ask_thread(void *arg)
{
	struct guard *guard = arg;
	struct guard_ask *a = guard->ask;

	while (!atomic_load(&guard->quit)) {
		ask_or_start(guard);
		pthread_mutex_lock(&guard->lock);
		while (!a->wanted && !atomic_load(&guard->quit))
			pthread_cond_wait(&a->wake, &guard->lock);
		a->wanted = false;
		pthread_mutex_unlock(&guard->lock);
	}
	kill_command(a);
	return NULL;
}

int guard_ask_start(struct guard *guard)
{
	int ret;

	if (!guard->options->policy)
		return 0;
	guard->ask = calloc(1, sizeof(*guard->ask));
	if (!guard->ask)
		return -ENOMEM;
	guard->ask->fd = -1;
	pthread_cond_init(&guard->ask->wake, NULL);
	if (guard->sim) {
		start_command(guard);
		return 0;
	}
	ret = shr_thread_start(&guard->ask->thread, 0, true, ask_thread, guard);
	if (ret) {
		free(guard->ask);
		guard->ask = NULL;
	}
	return ret;
}

void guard_ask_stop(struct guard *guard)
{
	if (!guard->ask)
		return;
	atomic_store(&guard->quit, true);
	pthread_mutex_lock(&guard->lock);
	pthread_cond_signal(&guard->ask->wake);
	pthread_mutex_unlock(&guard->lock);
	if (guard->sim)
		kill_command(guard->ask);
	else
		pthread_join(guard->ask->thread, NULL);
	/* A poller's thread may come back late from a read. */
	pthread_mutex_lock(&guard->lock);
	free(guard->ask);
	guard->ask = NULL;
	pthread_mutex_unlock(&guard->lock);
}

void guard_ask_wake(struct guard *guard)
{
	if (guard->ask && guard->sim) {
		ask_or_start(guard);
	} else if (guard->ask) {
		guard->ask->wanted = true;
		pthread_cond_signal(&guard->ask->wake);
	}
}

void guard_ask_tell(struct guard *guard)
{
	char text[sizeof(guard->ask->event)];

	if (!guard->ask)
		return;
	pthread_mutex_lock(&guard->lock);
	memcpy(text, guard->ask->event, sizeof(text));
	*guard->ask->event = '\0';
	pthread_mutex_unlock(&guard->lock);
	if (*text)
		guard_event(guard, "policy", 0, "%s", text);
}
