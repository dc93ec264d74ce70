// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "targets.h"
#include "owner.h"
#include "places.h"
#include "shared/util.h"

#define HEAD	 "gpreempt-left 1 role=%u start=%llu places=%zu left=%zu waiting=%zu\n"
#define MAX_FILE (256 + 16 * PLACES_LISTED)

/* Time between two questions to all processes whose they are, which take a while. */
#define SHARE_NS (400 * NSEC_PER_MSEC)

/* Shares */

static int compare(size_t a, size_t b)
{
	return (a > b) - (a < b);
}

/* Within a tenant: with queues, then held, then the others. */
static int by_tenant(const void *a, const void *b)
{
	const struct place_claim *x = a, *y = b;
	int ret = strcmp(x->tenant, y->tenant);

	if (!ret)
		ret = compare(y->queues, x->queues);
	if (!ret)
		ret = compare(y->held, x->held);
	return ret ? ret : gp_compare_targets(a, b);
}

static int by_right(const void *a, const void *b)
{
	const struct place_claim *x = a, *y = b;
	int ret = compare(y->queues, x->queues);

	if (!ret)
		ret = compare(x->turn, y->turn);
	if (!ret)
		ret = compare(y->held, x->held);
	return ret ? ret : gp_compare_targets(a, b);
}

void place_claims_share(struct place_claim *claims, size_t n, size_t places)
{
	size_t i;

	qsort(claims, n, sizeof(*claims), by_tenant);
	for (i = 0; i < n; i++)
		claims[i].turn = i && !strcmp(claims[i].tenant, claims[i - 1].tenant) ?
					 claims[i - 1].turn + 1 :
					 0;
	qsort(claims, n, sizeof(*claims), by_right);
	for (i = 0; i < n; i++)
		claims[i].given = i < places;
}

/* Claims, look after look */

void places_begin(struct places *p)
{
	free(p->before.items);
	p->before.items = p->now.items;
	p->before.count = p->now.count;
	p->now.items = NULL;
	p->now.count = 0;
	p->lost = false;
}

void places_claim(struct places *p, const struct gpreempt_target *target, bool held)
{
	struct place_claim *claim = shr_add(&p->now);

	if (!claim) {
		p->lost = true;
		return;
	}
	claim->target = *target;
	claim->held = held;
}

static void merge_same(struct places *p)
{
	struct place_claim *c = p->now.items;
	size_t i, n = 0;

	if (!p->now.count)
		return;
	qsort(c, p->now.count, sizeof(*c), gp_compare_targets);
	for (i = 1; i < p->now.count; i++)
		if (same_target(&c[i].target, &c[n].target))
			c[n].held |= c[i].held;
		else
			c[++n] = c[i];
	p->now.count = n + 1;
}

static const struct place_claim *find(const struct place_claim *claims, size_t n,
				      const struct gpreempt_target *target)
{
	struct place_claim key = { .target = *target };

	return n ? bsearch(&key, claims, n, sizeof(key), gp_compare_targets) : NULL;
}

/* Fill in a claim. The tenant of a process stays; whether it has queues does not. */
static void ask(struct places *p, struct place_claim *claim)
{
	const struct place_claim *known = find(p->before.items, p->before.count, &claim->target);

	if (known && *known->tenant)
		memcpy(claim->tenant, known->tenant, sizeof(claim->tenant));
	else
		gp_tenant(p->g, claim->target.pid, claim->tenant, sizeof(claim->tenant));
	claim->queues = gp_may_have_queues(p->g, claim->target.pid);
}

/* Give a place to all (@all), or to those that had one in the last look. */
static void give_as_before(struct places *p, bool all)
{
	size_t i;

	for (i = 0; i < p->now.count; i++) {
		struct place_claim *claim = &p->now.items[i];
		const struct place_claim *known =
			find(p->before.items, p->before.count, &claim->target);

		if (known) {
			memcpy(claim->tenant, known->tenant, GP_TENANT);
			claim->queues = known->queues;
		}
		claim->given = all || (known ? known->given : claim->held);
	}
}

static void share(struct places *p)
{
	size_t i;

	for (i = 0; i < p->now.count; i++)
		ask(p, &p->now.items[i]);
	place_claims_share(p->now.items, p->now.count, p->most);
	p->left = p->waiting = 0;
	for (i = p->most; i < p->now.count; i++)
		if (p->now.items[i].queues)
			p->left++;
		else
			p->waiting++;
	p->ever |= p->left;
	qsort(p->now.items, p->now.count, sizeof(*p->now.items), gp_compare_targets);
}

/* The file for other programs */

static const char *const suffixes[] = { ".left", ".left-online" };

static void left_path(pid_t command, bool online, char *buf, size_t size)
{
	snprintf(buf, size, HOLD_DIR "/%d%s", command, suffixes[online]);
}

/* Write the file of processes without a place. */
static void publish(struct places *p)
{
	char path[64], text[MAX_FILE];
	size_t len, n = 0, i;
	uint64_t start;

	left_path(getpid(), p->online, path, sizeof(path));
	if (!p->left && !p->waiting) {
		if (p->written)
			unlink(path);
		p->written = 0;
		return;
	}
	if (hold_dir_prepare() || gpreempt_start_time(p->g, getpid(), &start))
		return;
	len = snprintf(text, sizeof(text), HEAD, p->role, (unsigned long long)start, p->most,
		       p->left, p->waiting);
	for (i = 0; i < p->now.count && n < PLACES_LISTED; i++)
		if (p->now.items[i].queues && !p->now.items[i].given) {
			len += snprintf(text + len, sizeof(text) - len, "%d\n",
					p->now.items[i].target.pid);
			n++;
		}
	/* The next look tries again if the disk has no room. */
	if (!shr_file_replace(path, 0600, text, len))
		p->written = p->left + p->waiting;
}

bool places_share(struct places *p)
{
	bool all = p->now.count <= p->most || p->lost, news;
	uint64_t now = shr_now_ns();

	merge_same(p);
	all = all || p->now.count <= p->most;
	if (all || now < p->shared_ns + SHARE_NS) {
		give_as_before(p, all);
		if (!all)
			return false;
		p->left = p->waiting = 0;
	} else {
		share(p);
		p->shared_ns = shr_now_ns();
	}
	publish(p);
	news = p->left + p->waiting;
	return news && shr_report_due(&p->pause, now);
}

bool places_given(const struct places *p, const struct gpreempt_target *target)
{
	const struct place_claim *claim = find(p->now.items, p->now.count, target);

	return claim ? claim->given : p->lost;
}

void places_left_text(const struct places_left *l, char *text, size_t size)
{
	snprintf(text, size,
		 "%s (%d) has no place for %zu %sprocesses with queues and %zu "
		 "without: all its %zu places are taken",
		 hold_role_name(l->role), l->command, l->left, l->online ? "online " : "",
		 l->waiting, l->most);
}

void places_text(const struct places *p, char *text, size_t size)
{
	const struct places_left left = {
		.role = p->role,
		.online = p->online,
		.command = getpid(),
		.most = p->most,
		.left = p->left,
		.waiting = p->waiting,
	};

	places_left_text(&left, text, size);
}

void places_end(struct places *p)
{
	char path[64];

	if (p->written) {
		left_path(getpid(), p->online, path, sizeof(path));
		unlink(path);
	}
	free(p->now.items);
	free(p->before.items);
	p->now.items = p->before.items = NULL;
	p->now.count = p->before.count = p->written = 0;
}

/* Parse the text of a file. False: it is none of ours. */
static bool parse_left(const char *text, struct places_left *out, unsigned long long *start)
{
	unsigned int role;
	const char *at;
	int n = 0;

	if (sscanf(text, HEAD "%n", &role, start, &out->most, &out->left, &out->waiting, &n) != 5 ||
	    !n || role >= HOLD_ROLES)
		return false;
	out->role = role;
	for (at = text + n;
	     out->n < PLACES_LISTED && sscanf(at, "%d\n%n", &out->pid[out->n], &n) == 1; at += n)
		out->n++;
	return true;
}

struct reader {
	struct gpreempt *g;
	bool online;
	int (*fn)(void *arg, const struct places_left *left);
	void *arg;
};

static int read_left(void *arg, pid_t command)
{
	const struct reader *r = arg;
	struct places_left left = { .command = command, .online = r->online };
	char path[64], text[MAX_FILE + 1];
	__cleanup_fd int fd = -1;
	unsigned long long start;
	uint64_t now;
	ssize_t n;
	int ret;

	left_path(command, r->online, path, sizeof(path));
	ret = gpreempt_start_time(r->g, command, &now);
	/* The command was killed. A living one writes its file again. */
	if (ret == -ENOENT || ret == -ESRCH)
		unlink(path);
	if (ret)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	n = fd < 0 ? -1 : read(fd, text, MAX_FILE);
	if (n < 0)
		return 0;
	text[n] = '\0';
	if (!parse_left(text, &left, &start) || start != now)
		return 0;
	return r->fn(r->arg, &left);
}

int places_left_list(struct gpreempt *g, int (*fn)(void *arg, const struct places_left *left),
		     void *arg)
{
	struct reader r = { .g = g, .fn = fn, .arg = arg };
	int ret = hold_list_suffix(suffixes[0], read_left, &r);

	r.online = true;
	return ret ? ret : hold_list_suffix(suffixes[1], read_left, &r);
}
