// SPDX-License-Identifier: LGPL-2.1-or-later
/* Meanings of the words of a TARGET, and the queues of the calling program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gpreempt/select.h>

#include "lib/core/internal.h"
#include "shared/text.h"
#include "shared/util.h"
#include "see.h"
#include "words.h"

/* Queues of the calling program. */

/* Read our own PID, as this /proc counts, and our start time. */
static int read_self(struct gpreempt *g, pid_t *pid, uint64_t *start)
{
	char text[64];
	ssize_t n = gp_read_small(g, text, sizeof(text), "/proc/self/stat");

	if (n < 0)
		return n;
	*pid = atoi(text);
	return gpreempt_start_time(g, *pid, start);
}

/*
 * KFD names a process as the host counts. If this /proc is the host's, our
 * number there is it; else the host's process of that number, if it is shown
 * here, has another start time. 0: not to be known here.
 */
static pid_t find_self(const struct gpreempt_targets *all, pid_t pid, uint64_t start)
{
	pid_t found = 0;
	size_t i;

	for (i = 0; i < all->count; i++) {
		if (all->targets[i].start != start)
			continue;
		if (all->targets[i].pid == pid)
			return pid;
		if (found)
			return 0; /* two that started at once */
		found = all->targets[i].pid;
	}
	return found;
}

int gpreempt_self_queues(struct gpreempt *g, struct gpreempt_view **out, struct gpreempt_error *err)
{
	static const char step[] = "looking for our own queues";
	struct gpreempt_targets *all;
	uint64_t start = 0;
	pid_t self = 0, pid;
	int ret = read_self(g, &self, &start);

	if (ret)
		return gp_error(err, ret, GPREEMPT_SYSTEM, 0, step);
	ret = gpreempt_processes(g, &all, err);
	if (ret)
		return ret;
	pid = find_self(all, self, start);
	gpreempt_list_free(all);
	if (!pid)
		return gp_error(err, -ENODATA,
				getpid() == self ? GPREEMPT_NOT_GPU : GPREEMPT_PID_NAMESPACE, self,
				step);
	return gpreempt_view_read(g, pid, out, err);
}

/* Selection of processes by the words of a TARGET. */

/*
 * Owner of a process: a user, or a tenant. Ids that the user may give to its processes in a user
 * namespace are the user's, too: /etc/subuid has them, a file of root by which newuidmap(1)
 * decides.
 */

/* A line of /etc/subuid, "login name or uid:first:count". */
struct line {
	const char *owner;
	uint64_t first;
	uint64_t count;
};

/* Calls fn for each line until it returns other than 0. That, 0 or -errno. */
static int each_line(const struct gpreempt *g, int (*fn)(void *arg, const struct line *line),
		     void *arg)
{
	char *text, *at, *rest = NULL;
	size_t len;
	int ret = gp_read_text(g, "/etc/subuid", &text, &len);

	if (ret)
		return ret == -ENOENT ? 0 : ret;
	for (at = strtok_r(text, "\n", &rest); at && !ret; at = strtok_r(NULL, "\n", &rest)) {
		struct line line = { .owner = strsep(&at, ":") };
		const char *first = strsep(&at, ":");

		if (first && at && !shr_parse_u64(first, UINT32_MAX, &line.first) &&
		    !shr_parse_u64(at, UINT32_MAX, &line.count))
			ret = fn(arg, &line);
	}
	free(text);
	return ret;
}

struct collector {
	const char *name; /* the user's; "": none is known */
	struct gp_user_ids *ids;
};

static int add_range(void *arg, const struct line *line)
{
	struct collector *c = arg;
	struct gp_id_range *range;
	uint64_t uid;

	if (strcmp(line->owner, c->name) &&
	    (shr_parse_u64(line->owner, UINT32_MAX - 1, &uid) || uid != c->ids->uid))
		return 0;
	range = shr_add(&c->ids->ranges);
	if (!range)
		return -ENOMEM;
	*range = (struct gp_id_range){ line->first, line->count };
	return 0;
}

/* Read the user's ids, for gp_user_ids_free(). 0 or -errno; there are none without that file. */
static int gp_user_ids_read(struct gpreempt *g, uid_t uid, struct gp_user_ids *out)
{
	struct collector c = { .ids = out };
	char name[256];
	int ret = gp_user_name(g, uid, name, sizeof(name));

	*out = (struct gp_user_ids){ .uid = uid };
	c.name = ret ? "" : name;
	return ret && ret != -ENOENT ? ret : each_line(g, add_range, &c);
}

static void gp_user_ids_free(struct gp_user_ids *ids)
{
	free(ids->ranges.items);
	*ids = (struct gp_user_ids){ 0 };
}

static int match_slice(void *arg, const char *hierarchy, const char *path)
{
	const struct gp_user_ids *ids = arg;

	(void)hierarchy;
	return gp_slice_user(path) == ids->uid;
}

/* Has it one of these ids, or is it in the user's slice? 1, 0, or as gp_doubt(). */
static int gp_is_of_user(const struct gpreempt *g, pid_t pid, const struct gp_user_ids *ids)
{
	struct gp_process process;
	size_t i;

	/* The last uid is no user's: it is not known. */
	if (gp_process_read(g, pid, &process) || process.uid == (uid_t)-1)
		return 0;
	if (process.uid == ids->uid)
		return 1;
	for (i = 0; i < ids->ranges.count; i++)
		if (process.uid >= ids->ranges.items[i].first &&
		    process.uid - ids->ranges.items[i].first < ids->ranges.items[i].count)
			return 1;
	return gp_each_cgroup(g, pid, match_slice, (void *)ids);
}

struct owner_search {
	const struct gpreempt *g;
	uid_t uid; /* owner of the range at last */
};

static int find_owner(void *arg, const struct line *line)
{
	struct owner_search *s = arg;
	uint64_t uid;
	uid_t named;

	if (s->uid < line->first || s->uid - line->first >= line->count)
		return 0;
	if (!shr_parse_u64(line->owner, UINT32_MAX - 1, &uid))
		s->uid = uid;
	else if (!gp_user_by_name(s->g, line->owner, &named))
		s->uid = named;
	return 1;
}

struct tenant_look {
	const struct gpreempt *g;
	int64_t user;					 /* user in whose slice it is */
	char id[sizeof(((struct gp_container *)0)->id)]; /* id of its container */
};

static int find_tenant(void *arg, const char *hierarchy, const char *path)
{
	struct tenant_look *look = arg;

	(void)hierarchy;
	if (!*look->id)
		gp_outer_container(look->g, path, look->id);
	look->user = gp_slice_user(path);
	return look->user != GPREEMPT_UNKNOWN;
}

void gp_tenant(const struct gpreempt *g, pid_t pid, char *buf, size_t size)
{
	struct tenant_look look = { .g = g };
	struct owner_search s = { .g = g };
	struct gp_process process;

	if (gp_each_cgroup(g, pid, find_tenant, &look) == 1) {
		snprintf(buf, size, "user %lld", (long long)look.user);
	} else if (*look.id) {
		snprintf(buf, size, "container %s", look.id);
	} else if (!gp_process_read(g, pid, &process)) {
		s.uid = process.uid;
		each_line(g, find_owner, &s);
		snprintf(buf, size, "user %u", s.uid);
	} else {
		snprintf(buf, size, "unknown");
	}
}

bool gp_may_have_queues(const struct gpreempt *g, pid_t pid)
{
	char path[GP_PID_PATH];
	int ret;

	gp_pid_path(path, GP_SYSFS_PROC, pid, "queues");
	ret = gp_look_in(g, path);
	return ret && ret != -ENOENT;
}

/* Kinds of words, and the processes that each names. */

#define MAX_PID	 (1 << 22) /* the kernel's own limit */
#define COMM_LEN 15	   /* characters that the kernel keeps */

static const char step[] = "looking for the target";

/* A word, taken apart. */
struct matcher {
	struct gpreempt *g;
	const char *word;
	const struct kind *kind;
	const struct gp_select_how *how;
	const char *value; /* behind the kind's name */
	pid_t pid;
	struct gp_user_ids user;
	regex_t regex;
	struct gp_box container;
	enum gpreempt_role role;
	int cgroups; /* their root, or -errno */
};

struct kind {
	const char *prefix;
	/* Prepare the word, or fail with *err. */
	int (*prepare)(struct matcher *m, struct gpreempt_error *err);
	/* Does the word match? 1, 0, GP_DOUBT, or another -errno, which ends the look. */
	int (*match)(const struct matcher *m, pid_t pid);
	bool reads_memory; /* the match may wait for the process */
	/* a match takes several calls; files or the depth of a cgroup decide how many */
	bool is_slow;
	/* Prepare more that takes all processes. 0, -ENOENT, -EEXIST or -ENOTUNIQ. */
	int (*find)(struct matcher *m, const struct gpreempt_targets *processes);
};

static int fail_word(struct gpreempt_error *err, int code, enum gpreempt_reason reason,
		     const struct matcher *m)
{
	gp_error(err, code, reason, m->pid, step);
	if (err)
		err->word = m->word;
	return code;
}

static int match_pid(const struct matcher *m, pid_t pid)
{
	return m->pid == pid;
}

static int match_cgroup(const struct matcher *m, pid_t pid)
{
	return gp_in_cgroup(m->g, pid, m->value);
}

static int prepare_role(struct matcher *m, struct gpreempt_error *err)
{
	if (gp_role_by_name(m->value, strlen(m->value), &m->role) || m->role == GPREEMPT_ROLE_NONE)
		return fail_word(err, -EINVAL, GPREEMPT_BAD_TARGET, m);
	m->cgroups = m->g ? gp_role_root(m->g) : -ENOENT;
	return 0;
}

/* A process in doubt is offline. */
static int match_role(const struct matcher *m, pid_t pid)
{
	struct gp_role_own own;
	int role = gp_role(m->g, m->cgroups, pid, &own);

	if (role == GP_DOUBT && m->role != GPREEMPT_ROLE_OFFLINE)
		return 0;
	if (role == (int)m->role && *own.words && m->how->own)
		m->how->own(m->how->data, pid, &own);
	return role < 0 ? role : role == (int)m->role;
}

static int find_container(struct matcher *m, const struct gpreempt_targets *processes)
{
	return gp_find_container(m->g, processes, m->value, &m->container);
}

static int match_container(const struct matcher *m, pid_t pid)
{
	return gp_in_container(m->g, pid, &m->container);
}

static int match_comm(const struct matcher *m, pid_t pid)
{
	char text[64];

	gp_read_comm(m->g, pid, text, sizeof(text));
	return !strncmp(text, m->value, COMM_LEN);
}

/* Does the pattern keep its meaning with a group around it? */
static bool can_group(const char *pattern)
{
	__cleanup_free char *open = NULL;
	const char *at = pattern;
	regex_t regex;

	/* A back-reference counts groups: one more around the pattern would change it. */
	while ((at = strchr(at, '\\'))) {
		if (at[1] >= '1' && at[1] <= '9')
			return false;
		at += 1 + (at[1] != '\0');
	}
	/* A ")" that closes nothing stands for itself, and would close it. */
	if (asprintf(&open, "(%s", pattern) < 0)
		return false;
	if (regcomp(&regex, open, REG_EXTENDED | REG_NOSUB))
		return true;
	regfree(&regex);
	return false;
}

/*
 * Compile the pattern so that it matches from the beginning: then each character is looked at
 * once. With a match anywhere, each place would be tried, and a process can write a command line
 * on which that takes the square of its length.
 */
static int compile(struct matcher *m)
{
	__cleanup_free char *whole = NULL;
	int ret = regcomp(&m->regex, m->value, REG_EXTENDED | REG_NOSUB);

	if (ret || !can_group(m->value) || asprintf(&whole, "^.*(%s)", m->value) < 0)
		return ret;
	regfree(&m->regex);
	return regcomp(&m->regex, whole, REG_EXTENDED | REG_NOSUB);
}

static int prepare_cmd(struct matcher *m, struct gpreempt_error *err)
{
	int ret = compile(m);

	if (!ret)
		return 0;
	fail_word(err, -EINVAL, GPREEMPT_BAD_PATTERN, m);
	if (err)
		regerror(ret, &m->regex, err->name, sizeof(err->name));
	return -EINVAL;
}

static int match_cmd(const struct matcher *m, pid_t pid)
{
	char text[GP_COMMAND_LEN + 1];
	const char *command = text;

	if (m->how->command)
		command = m->how->command(m->how->data, pid);
	else if (gp_read_command(m->g, pid, text, sizeof(text)) < 0)
		command = NULL;
	return command && !regexec(&m->regex, command, 0, NULL, 0);
}

/* A look needs a system; without one, only the form is checked. */
static int prepare_user(struct matcher *m, struct gpreempt_error *err)
{
	uint64_t number;
	uid_t uid;
	int ret;

	if (!m->g)
		return 0;
	if (!shr_parse_u64(m->value, UINT32_MAX - 1, &number))
		uid = number;
	else if (gp_user_by_name(m->g, m->value, &uid))
		return fail_word(err, -EINVAL, GPREEMPT_NO_USER, m);
	ret = gp_user_ids_read(m->g, uid, &m->user);
	if (!ret)
		return 0;
	gp_user_ids_free(&m->user);
	return fail_word(err, ret, GPREEMPT_SYSTEM, m);
}

static int match_user(const struct matcher *m, pid_t pid)
{
	return gp_is_of_user(m->g, pid, &m->user);
}

static const struct kind pid_kind = { .prefix = "", .match = match_pid };

static const struct kind kinds[] = {
	{ .prefix = "cgroup:", .match = match_cgroup, .is_slow = true },
	{ .prefix = "role:", .match = match_role, .prepare = prepare_role, .is_slow = true },
	{ .prefix = "container:",
	  .match = match_container,
	  .find = find_container,
	  .is_slow = true },
	{ .prefix = "user:", .match = match_user, .prepare = prepare_user, .is_slow = true },
	{ .prefix = "comm:", .match = match_comm },
	{ .prefix = "cmd:",
	  .match = match_cmd,
	  .prepare = prepare_cmd,
	  .reads_memory = true,
	  .is_slow = true },
};

/* The kind that a word begins as; NULL: none, it is a PID or bad. */
static const struct kind *kind_of(const char *word)
{
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		len = strlen(kinds[i].prefix);
		if (!strncmp(word, kinds[i].prefix, len) && word[len])
			return &kinds[i];
	}
	return NULL;
}

bool gp_select_reads_memory(const char *word)
{
	const struct kind *kind = kind_of(word);

	return kind && kind->reads_memory;
}

bool gp_select_is_slow(const char *word)
{
	const struct kind *kind = kind_of(word);

	return kind && kind->is_slow;
}

/* Parse a word; call end_word() after success. */
static int begin_word(struct gpreempt *g, struct matcher *m, const char *word,
		      struct gpreempt_error *err)
{
	uint64_t pid;

	*m = (struct matcher){ .g = g, .word = word, .kind = kind_of(word), .cgroups = -1 };
	if (m->kind) {
		m->value = word + strlen(m->kind->prefix);
		return m->kind->prepare ? m->kind->prepare(m, err) : 0;
	}
	if (shr_parse_u64(word, MAX_PID, &pid) || !pid)
		return fail_word(err, -EINVAL, GPREEMPT_BAD_TARGET, m);
	m->kind = &pid_kind;
	m->pid = pid;
	return 0;
}

static void end_word(struct matcher *m)
{
	if (m->kind->prepare == prepare_cmd)
		regfree(&m->regex);
	gp_user_ids_free(&m->user);
	shr_cleanup_fd(&m->cgroups);
}

int gp_select_check(const char *word, struct gpreempt_error *err)
{
	struct matcher m;
	int ret = begin_word(NULL, &m, word, err);

	if (!ret)
		end_word(&m);
	return ret;
}

struct lister {
	struct gpreempt *g;
	struct gpreempt_targets *list;
};

static int add_name(void *arg, const char *name)
{
	struct gpreempt_target *target;
	struct lister *l = arg;
	uint64_t pid, start;

	if (shr_parse_u64(name, MAX_PID, &pid))
		return 0;
	/* The process may have ended since. */
	if (gpreempt_start_time(l->g, pid, &start))
		return 0;
	target = shr_array_add(&l->list->targets, &l->list->count, sizeof(*target));
	if (!target)
		return -ENOMEM;
	*target = (struct gpreempt_target){ .pid = pid, .start = start };
	return 0;
}

int gp_compare_targets(const void *a, const void *b)
{
	const struct gpreempt_target *x = a, *y = b;

	return x->pid != y->pid ? (x->pid > y->pid) - (x->pid < y->pid) :
				  (x->start > y->start) - (x->start < y->start);
}

int gpreempt_processes(struct gpreempt *g, struct gpreempt_targets **out,
		       struct gpreempt_error *err)
{
	struct lister l = { .g = g };
	int ret;

	l.list = calloc(1, sizeof(*l.list));
	if (!l.list)
		return gp_error(err, -ENOMEM, GPREEMPT_SYSTEM, 0, step);
	ret = g->ops->list_dir(g->be, GP_SYSFS_PROC, add_name, &l);
	if (ret) {
		gpreempt_list_free(l.list);
		return ret == -ENOENT ? gp_error(err, -ENODEV, GPREEMPT_NO_KFD, 0, step) :
					gp_error(err, ret, GPREEMPT_SYSTEM, 0, step);
	}
	if (l.list->count)
		qsort(l.list->targets, l.list->count, sizeof(*l.list->targets), gp_compare_targets);
	*out = l.list;
	return 0;
}

static int hash_name(void *arg, const char *name)
{
	uint64_t *hash = arg, pid;

	/* The order of a directory may change: add them up. */
	if (!shr_parse_u64(name, MAX_PID, &pid))
		*hash += (pid + 1) * 0x9e3779b97f4a7c15;
	return 0;
}

uint64_t gp_processes_hash(struct gpreempt *g)
{
	uint64_t hash = 1;

	return g->ops->list_dir(g->be, GP_SYSFS_PROC, hash_name, &hash) ? 0 : hash;
}

GP_LIST(struct gpreempt_targets, targets);

/* The processes that are chosen among all. */
struct selection {
	struct gpreempt *g;
	const struct gpreempt_targets *all;
	bool *chosen;
	const struct gp_select_how *how;
};

static bool never(const struct selection *s, pid_t pid)
{
	return (pid == getpid() && !s->g->saved) ||
	       (s->how->skip && s->how->skip(s->how->data, pid));
}

/* Report the reason why a word has named nothing. */
static int fail_none(const struct selection *s, const struct matcher *m, struct gpreempt_error *err)
{
	int ret;

	if (m->kind != &pid_kind)
		return fail_word(err, -ESRCH, GPREEMPT_NO_MATCH, m);
	ret = gp_target_exists(s->g, m->pid, step, err);
	if (ret)
		return ret;
	return fail_word(err, -ESRCH, never(s, m->pid) ? GPREEMPT_IS_HOLDER : GPREEMPT_ENDED, m);
}

static int choose(struct selection *s, struct matcher *m, struct gpreempt_error *err)
{
	size_t i, found = 0;
	int match;

	if (m->kind->find) {
		int ret = m->kind->find(m, s->all);

		if (ret == -EEXIST)
			return fail_word(err, ret, GPREEMPT_MANY_CONTAINERS, m);
		if (ret == -ENOTUNIQ)
			return fail_word(err, ret, GPREEMPT_SAME_CONTAINER, m);
		/* None of them is in the container, but a process in doubt can be. */
		if (ret && (ret != -ENOENT || s->how->sure))
			return fail_none(s, m, err);
	}
	for (i = 0; i < s->all->count; i++) {
		pid_t pid = s->all->targets[i].pid;

		/* Ask skip() first: a skipped process is not read, and can be counted. */
		if (m->kind->is_slow && never(s, pid))
			continue;
		match = m->kind->match(m, pid);
		if (match == GP_DOUBT)
			match = !s->how->sure;
		if (match < 0)
			return gp_error(err, match, GPREEMPT_SYSTEM, pid, step);
		if (!match || never(s, pid))
			continue;
		s->chosen[i] = true;
		found++;
	}
	return found ? 0 : fail_none(s, m, err);
}

static int choose_all(struct selection *s, const char *const *words, size_t count,
		      struct gpreempt_error *err)
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct matcher m;
		int ret = begin_word(s->g, &m, words[i], err);

		if (ret)
			return ret;
		m.how = s->how;
		ret = choose(s, &m, err);
		end_word(&m);
		if (ret)
			return ret;
	}
	return 0;
}

static int copy_chosen(const struct selection *s, struct gpreempt_targets **out,
		       struct gpreempt_error *err)
{
	struct gpreempt_targets *list = calloc(1, sizeof(*list));
	struct gpreempt_target *target;
	size_t i;

	for (i = 0; list && i < s->all->count; i++) {
		if (!s->chosen[i])
			continue;
		target = shr_array_add(&list->targets, &list->count, sizeof(*target));
		if (target) {
			*target = s->all->targets[i];
			continue;
		}
		gpreempt_list_free(list);
		list = NULL;
	}
	*out = list;
	return list ? 0 : gp_error(err, -ENOMEM, GPREEMPT_SYSTEM, 0, step);
}

int gp_select(struct gpreempt *g, const struct gp_select_how *how, const char *const *words,
	      size_t count, struct gpreempt_targets **out, struct gpreempt_error *err)
{
	struct selection s = { .g = g, .how = how, .all = how->all };
	struct gpreempt_targets *all = NULL;
	int ret = s.all ? 0 : gpreempt_processes(g, &all, err);

	if (ret)
		return ret;
	if (!s.all)
		s.all = all;
	s.chosen = calloc(s.all->count + 1, sizeof(*s.chosen));
	ret = s.chosen ? choose_all(&s, words, count, err) :
			 gp_error(err, -ENOMEM, GPREEMPT_SYSTEM, 0, step);
	if (!ret)
		ret = copy_chosen(&s, out, err);
	free(s.chosen);
	gpreempt_list_free(all);
	return ret;
}

int gpreempt_select(struct gpreempt *g, const char *const *words, size_t count,
		    bool (*skip)(void *data, pid_t pid), void *data, struct gpreempt_targets **out,
		    struct gpreempt_error *err)
{
	const struct gp_select_how how = { .skip = skip, .data = data };

	return gp_select(g, &how, words, count, out, err);
}
