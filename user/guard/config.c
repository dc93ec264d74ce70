// SPDX-License-Identifier: GPL-2.0-only
/*
 * The configuration of guard: its figures and its tenants, from the command line or from a file,
 * and its change while guard runs.
 *
 * A file has a line for the policy, and one for each tenant; the last of several that name a
 * process counts:
 *
 *	policy fair slots=1 slice=50ms window=10s
 *	tenant cgroup:/system.slice/serve.service online cost=2%
 *	tenant role:offline weight=100 max=80%
 *
 * For a simulation it has loads of these tenants, too, and a line for the run:
 *
 *	load role:offline processes=3 work=20ms gap=5ms
 *	run time=60s switch=470us
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/see/words.h"
#include "shared/cgroup.h"
#include "shared/text.h"
#include "shared/util.h"
#include "guard.h"

#define FILE_SIZE 65536
#define BLANK	  " \t\r\n"
#define CGROUP	  "cgroup:"

enum kind {
	NUMBER,	    /* unsigned int */
	PERCENT,    /* unsigned int, a percent sign may follow */
	THOUSANDTH, /* unsigned int, written as a percentage */
	TIME,	    /* uint64_t */
	FLAG,	    /* bool, without a value */
};

struct key {
	const char *name;
	enum kind kind;
	size_t offset;
	uint64_t most;
};

#define FIGURE(member) offsetof(struct gpreempt_policy_options, member)
#define WISH(member)   offsetof(struct gpreempt_policy_tenant, member)
#define LOAD(member)   offsetof(struct guard_load, member)
#define RUN(member)    offsetof(struct guard_config, run.member)
#define DAY_NS	       (24 * 3600 * NSEC_PER_SEC)

static const struct key figures[] = {
	{ "slots", NUMBER, FIGURE(slots), GPREEMPT_POLICY_ENTITIES },
	{ "slice", TIME, FIGURE(slice_ns), DAY_NS },
	{ "period", TIME, FIGURE(period_ns), DAY_NS },
	{ "window", TIME, FIGURE(window_ns), DAY_NS },
	{ "linger", TIME, FIGURE(linger_ns), DAY_NS },
	{ "park", TIME, FIGURE(park_ns), DAY_NS },
};

static const struct key wishes[] = {
	{ "weight", NUMBER, WISH(weight), 10000 },
	{ "min", PERCENT, WISH(min), 90 },
	{ "max", PERCENT, WISH(max), 100 },
	{ "cost", THOUSANDTH, WISH(cost), 1000 },
	{ "deadline", TIME, WISH(deadline_ns), DAY_NS },
	{ "gang", FLAG, WISH(gang), 0 },
};

static const struct key loads[] = {
	{ "processes", NUMBER, LOAD(processes), GPREEMPT_POLICY_ENTITIES },
	{ "work", TIME, LOAD(work_ns), DAY_NS },
	{ "gap", TIME, LOAD(gap_ns), DAY_NS },
	{ "life", TIME, LOAD(life_ns), DAY_NS },
};

static const struct key runs[] = {
	{ "time", TIME, RUN(time_ns), DAY_NS },
	{ "switch", TIME, RUN(switch_ns), NSEC_PER_SEC },
};

__attribute__((format(printf, 2, 3))) static int refuse(struct guard_config_error *err,
							const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	return -EINVAL;
}

/* Read a percentage with one digit after the point at most, in thousandths. */
static int parse_thousandths(const char *text, uint64_t most, uint64_t *out)
{
	const char *end = text + strcspn(text, ".%");
	char number[16];
	uint64_t tenths = 0;
	int ret;

	snprintf(number, sizeof(number), "%.*s", (int)(end - text), text);
	ret = shr_parse_u64(number, most, out);
	if (!ret && *end == '.') {
		if (end[1] < '0' || end[1] > '9')
			return -EINVAL;
		tenths = end[1] - '0';
		end += 2;
	}
	if (ret || (*end && strcmp(end, "%")))
		return -EINVAL;
	*out = 10 * *out + tenths;
	return *out <= most ? 0 : -ERANGE;
}

static int parse_value(const struct key *key, const char *text, uint64_t *out)
{
	int ret;

	switch (key->kind) {
	case NUMBER:
		ret = shr_parse_u64(text, key->most, out);
		return ret || *out ? ret : -ERANGE;
	case PERCENT:
		ret = parse_thousandths(text, 10 * key->most, out);
		if (!ret && *out % 10)
			return -EINVAL;
		*out /= 10;
		return ret;
	case THOUSANDTH:
		return parse_thousandths(text, key->most, out);
	case TIME:
		ret = shr_parse_duration(text, out);
		return ret || *out <= key->most ? ret : -ERANGE;
	default:
		return -EINVAL;
	}
}

static int fail_value(const struct key *key, struct guard_config_error *err)
{
	if (key->kind == TIME)
		return refuse(err, "%s is a time with its unit, as in %s=50ms", key->name,
			      key->name);
	if (key->kind == THOUSANDTH)
		return refuse(err, "%s is a percentage up to %llu, as in %s=0.5%%", key->name,
			      (unsigned long long)key->most / 10, key->name);
	if (key->kind == PERCENT)
		return refuse(err, "%s is a percentage up to %llu, as in %s=20%%", key->name,
			      (unsigned long long)key->most, key->name);
	return refuse(err, "%s is a number from 1 to %llu", key->name,
		      (unsigned long long)key->most);
}

static const struct key *find_key(const struct key *keys, size_t n, const char *word)
{
	size_t i, len = strcspn(word, "=");

	for (i = 0; i < n; i++)
		if (strlen(keys[i].name) == len && !strncmp(keys[i].name, word, len) &&
		    (word[len] ? keys[i].kind != FLAG : keys[i].kind == FLAG))
			return &keys[i];
	return NULL;
}

/* Set "key=value", or a flag, in a structure. */
static int set_key(const struct key *keys, size_t n, const char *word, void *to,
		   struct guard_config_error *err)
{
	const struct key *key = find_key(keys, n, word);
	uint64_t value = 1;

	if (!key)
		return refuse(err, "\"%s\" is not known there", word);
	if (key->kind == FLAG) {
		*(bool *)((char *)to + key->offset) = true;
		return 0;
	}
	if (parse_value(key, strchr(word, '=') + 1, &value))
		return fail_value(key, err);
	if (key->kind == TIME)
		*(uint64_t *)((char *)to + key->offset) = value;
	else
		*(unsigned int *)((char *)to + key->offset) = value;
	return 0;
}

static int set_keys(const struct key *keys, size_t n, const char *word, char **rest, void *to,
		    struct guard_config_error *err)
{
	int ret = 0;

	for (; !ret && word; word = strtok_r(NULL, BLANK, rest))
		ret = set_key(keys, n, word, to, err);
	return ret;
}

int guard_config_order(struct guard_config *c, const char *order, struct guard_config_error *err)
{
	if (!gp_policy_has_order(order))
		return refuse(err, "the order is fair, priority, deadline, or fifo, not \"%s\"",
			      order);
	snprintf(c->order, sizeof(c->order), "%s", order);
	return 0;
}

static int take_policy(struct guard_config *c, char **rest, struct guard_config_error *err)
{
	const char *word = strtok_r(NULL, BLANK, rest);
	int ret = 0;

	if (word && !strchr(word, '=')) {
		ret = guard_config_order(c, word, err);
		word = strtok_r(NULL, BLANK, rest);
	}
	if (!ret)
		ret = set_keys(figures, ARRAY_SIZE(figures), word, rest, &c->figures, err);
	if (!ret &&
	    (c->figures.period_ns < NSEC_PER_MSEC || c->figures.window_ns < c->figures.period_ns))
		ret = refuse(err, "the period is 1ms at least, and the window no shorter");
	return ret;
}

int guard_config_add(struct guard_config *c, const char *word,
		     const struct gpreempt_policy_tenant *wish)
{
	bool online = wish->role == GPREEMPT_ROLE_ONLINE;
	struct guard_tenant *t;

	if (c->n[online] == GUARD_WORDS)
		return -ENOSPC;
	t = &c->tenant[online][c->n[online]++];
	*t = (struct guard_tenant){ .word = shr_must(strdup(word)), .wish = *wish };
	return 0;
}

/* Does each wish make sense for that role? */
static int check_wish(const struct gpreempt_policy_tenant *wish, struct guard_config_error *err)
{
	bool online = wish->role == GPREEMPT_ROLE_ONLINE;

	if (online && (wish->min || wish->max || wish->gang || wish->weight || wish->deadline_ns))
		return refuse(err, "an online tenant has only a cost");
	if (!online && wish->cost)
		return refuse(err, "cost is for an online tenant");
	if (wish->max && wish->min > wish->max)
		return refuse(err, "min is more than max");
	return 0;
}

/* The weight that the kernel's scheduler has for a cgroup; 0: it has none. */
static unsigned int cgroup_weight(const char *path)
{
	int root = shr_cgroup_root();
	char text[16];
	uint64_t weight;
	ssize_t len;

	if (root < 0)
		return 0;
	len = shr_read_start(text, sizeof(text), "/proc/self/fd/%d%s/cpu.weight", root, path);
	close(root);
	text[strcspn(text, "\n")] = '\0';
	return len > 0 && !shr_parse_u64(text, 10000, &weight) ? weight : 0;
}

int guard_config_words(enum gpreempt_role role, const char *words,
		       struct gpreempt_policy_tenant *wish, struct guard_config_error *err)
{
	struct gpreempt_policy_tenant none = { .size = sizeof(none), .role = role };
	char text[GP_ROLE_WORDS], *rest;
	int ret;

	*err = (struct guard_config_error){ 0 };
	if (strlen(words) >= sizeof(text))
		return refuse(err, "there are more than %zu characters", sizeof(text) - 1);
	strcpy(text, words);
	wish = wish ?: &none;
	ret = set_keys(wishes, ARRAY_SIZE(wishes), strtok_r(text, BLANK, &rest), &rest, wish, err);
	return ret ?: check_wish(wish, err);
}

bool guard_config_word(size_t n, char text[32])
{
	if (n < ARRAY_SIZE(wishes))
		snprintf(text, 32, "%s%s", wishes[n].name, wishes[n].kind == FLAG ? "" : "=");
	return n < ARRAY_SIZE(wishes);
}

static int take_tenant(struct guard_config *c, char **rest, struct guard_config_error *err)
{
	struct gpreempt_policy_tenant wish = {
		.size = sizeof(wish),
		.role = GPREEMPT_ROLE_OFFLINE,
	};
	const char *target = strtok_r(NULL, BLANK, rest), *word;
	struct gpreempt_error bad;
	int ret = 0;

	if (!target || gp_select_check(target, &bad))
		return refuse(err, "a target is needed, such as role:offline or comm:NAME");
	while (!ret && (word = strtok_r(NULL, BLANK, rest))) {
		if (!strcmp(word, "online"))
			wish.role = GPREEMPT_ROLE_ONLINE;
		else if (!strcmp(word, "offline"))
			wish.role = GPREEMPT_ROLE_OFFLINE;
		else
			ret = set_key(wishes, ARRAY_SIZE(wishes), word, &wish, err);
	}
	if (!ret)
		ret = check_wish(&wish, err);
	if (!ret && !wish.weight && wish.role == GPREEMPT_ROLE_OFFLINE &&
	    !strncmp(target, CGROUP, strlen(CGROUP)))
		wish.weight = cgroup_weight(target + strlen(CGROUP));
	if (!ret && guard_config_add(c, target, &wish))
		ret = refuse(err, "there are more than %d tenants of that class", GUARD_WORDS);
	return ret;
}

static struct guard_tenant *find_tenant(struct guard_config *c, bool online, const char *word)
{
	size_t i;

	for (i = 0; i < c->n[online]; i++)
		if (!strcmp(c->tenant[online][i].word, word))
			return &c->tenant[online][i];
	return NULL;
}

static int take_load(struct guard_config *c, char **rest, struct guard_config_error *err)
{
	const char *word = strtok_r(NULL, BLANK, rest);
	struct guard_tenant *t = word ? find_tenant(c, false, word) : NULL;

	if (word && !t)
		t = find_tenant(c, true, word);
	if (!t)
		return refuse(err, "a load is that of a tenant in a line above it");
	return set_keys(loads, ARRAY_SIZE(loads), strtok_r(NULL, BLANK, rest), rest, &t->load, err);
}

int guard_config_line(struct guard_config *c, char *line, struct guard_config_error *err)
{
	char *rest, *word;

	line[strcspn(line, "#")] = '\0';
	word = strtok_r(line, BLANK, &rest);
	if (!word)
		return 0;
	if (!strcmp(word, "policy"))
		return take_policy(c, &rest, err);
	if (!strcmp(word, "tenant"))
		return take_tenant(c, &rest, err);
	if (!strcmp(word, "load"))
		return take_load(c, &rest, err);
	if (!strcmp(word, "run"))
		return set_keys(runs, ARRAY_SIZE(runs), strtok_r(NULL, BLANK, &rest), &rest, c,
				err);
	return refuse(err, "a line begins with policy or tenant, not \"%s\"", word);
}

void guard_config_start(struct guard_config *c)
{
	*c = (struct guard_config){
		.figures = {
			.size = sizeof(c->figures),
			.linger_ns = 2 * NSEC_PER_MSEC,
			.slice_ns = 50 * NSEC_PER_MSEC,
			.period_ns = NSEC_PER_SEC,
			.window_ns = 10 * NSEC_PER_SEC,
		},
		.order = "fair",
		.run = { .time_ns = 60 * NSEC_PER_SEC, .switch_ns = 470 * NSEC_PER_USEC },
	};
}

void guard_config_free(struct guard_config *c)
{
	size_t role, i;

	for (role = 0; role < 2; role++)
		for (i = 0; i < c->n[role]; i++)
			free(c->tenant[role][i].word);
	c->n[0] = c->n[1] = 0;
}

static int read_lines(struct guard_config *c, char *text, struct guard_config_error *err)
{
	char *line, *next = text;
	int ret = 0;

	while (!ret && (line = strsep(&next, "\n"))) {
		err->line++;
		ret = guard_config_line(c, line, err);
	}
	if (ret)
		return ret;
	err->line = 0;
	if (!c->n[0])
		return refuse(err,
			      "there is no tenant that is offline: nothing is to be scheduled");
	return 0;
}

int guard_config_read(const char *path, struct guard_config *c, struct guard_config_error *err)
{
	char *text = shr_must(malloc(FILE_SIZE));
	ssize_t len = shr_read_start(text, FILE_SIZE, "%s", path);
	int ret;

	*err = (struct guard_config_error){ 0 };
	guard_config_start(c);
	if (len < 0)
		ret = refuse(err, "it cannot be read: %s", strerror(-len));
	else if (len == FILE_SIZE - 1 || strlen(text) != (size_t)len)
		ret = refuse(err, "it is no text of less than %d bytes", FILE_SIZE);
	else
		ret = read_lines(c, text, err);
	free(text);
	if (ret)
		guard_config_free(c);
	return ret;
}

/* Print a time as the file has it, and without a loss. */
static void print_time(FILE *out, const char *name, uint64_t ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "s", NSEC_PER_SEC }, { "ms", NSEC_PER_MSEC }, { "us", NSEC_PER_USEC } };
	size_t i = 0;

	while (i < ARRAY_SIZE(units) && ns % units[i].ns)
		i++;
	fprintf(out, " %s=%llu%s", name,
		(unsigned long long)(i < ARRAY_SIZE(units) ? ns / units[i].ns : ns),
		i < ARRAY_SIZE(units) ? units[i].name : "ns");
}

/* Print a value that is set. */
static void print_key(FILE *out, const struct key *key, const void *from)
{
	const void *at = (const char *)from + key->offset;
	const unsigned int *number = at;

	switch (key->kind) {
	case FLAG:
		if (*(const bool *)at)
			fprintf(out, " %s", key->name);
		break;
	case TIME:
		if (*(const uint64_t *)at)
			print_time(out, key->name, *(const uint64_t *)at);
		break;
	case THOUSANDTH:
		if (*number)
			fprintf(out, " %s=%u.%u%%", key->name, *number / 10, *number % 10);
		break;
	default:
		if (*number)
			fprintf(out, " %s=%u%s", key->name, *number,
				key->kind == PERCENT ? "%" : "");
	}
}

static void print_keys(FILE *out, const struct key *keys, size_t n, const void *from)
{
	size_t i;

	for (i = 0; i < n; i++)
		print_key(out, &keys[i], from);
	fputc('\n', out);
}

void guard_config_print(const struct guard_config *c, FILE *out)
{
	size_t role, i;

	fprintf(out, "policy %s", c->order);
	print_keys(out, figures, ARRAY_SIZE(figures), &c->figures);
	for (role = 2; role-- > 0;)
		for (i = 0; i < c->n[role]; i++) {
			/* A file has no line for a cgroup with words of its own. */
			fprintf(out, "%stenant %s %s", c->tenant[role][i].own ? "# " : "",
				c->tenant[role][i].word, role ? "online" : "offline");
			print_keys(out, wishes, ARRAY_SIZE(wishes), &c->tenant[role][i].wish);
		}
}

/* Changes while guard runs. */

static bool is_numbered(const struct guard_config *c, unsigned int number)
{
	size_t role, i;

	for (role = 0; role < 2; role++)
		for (i = 0; i < c->n[role]; i++)
			if (c->tenant[role][i].number == number)
				return true;
	return number == GUARD_SERVERS;
}

/* Forget tenants that neither of both has, and whose processes are gone. */
static void forget_tenants(struct gpreempt_policy *p, const struct guard_config *a,
			   const struct guard_config *b)
{
	static const struct gpreempt_policy_tenant none = { .size = sizeof(none) };
	unsigned int i;

	for (i = 0; i < p->tenants; i++)
		if (!is_numbered(a, i) && !is_numbered(b, i))
			gpreempt_policy_set(p, i, &none);
}

/* A tenant that was there keeps its number, and with it what it is charged for. */
static int give_number(struct gpreempt_policy *p, struct guard_config *old,
		       struct guard_config *new, struct guard_tenant *t)
{
	struct guard_tenant *before =
		find_tenant(old, t->wish.role == GPREEMPT_ROLE_ONLINE, t->word);
	unsigned int i = GUARD_SERVERS + 1;
	int ret = -EBUSY;

	if (before) {
		t->number = before->number;
		return gpreempt_policy_set(p, t->number, &t->wish);
	}
	/* -EBUSY: processes of an earlier one of the other class have it still. */
	for (; ret == -EBUSY && i < GPREEMPT_POLICY_TENANTS; i++)
		if (!is_numbered(old, i) && !is_numbered(new, i)) {
			ret = gpreempt_policy_set(p, i, &t->wish);
			t->number = ret ? GUARD_SERVERS : i;
		}
	return ret;
}

static int set_figures(struct gpreempt_policy *p, const struct guard_config *c)
{
	struct gpreempt_policy_options options = c->figures;

	options.order = c->order;
	return gp_policy_change(p, &options);
}

int guard_config_use(struct gpreempt_policy *p, struct guard_config *old, struct guard_config *new)
{
	static const struct gpreempt_policy_tenant servers = {
		.size = sizeof(servers),
		.role = GPREEMPT_ROLE_ONLINE,
	};
	int ret = gpreempt_policy_set(p, GUARD_SERVERS, &servers);
	size_t role, i;

	if (!ret)
		ret = set_figures(p, new);
	for (role = 0; role < 2; role++)
		for (i = 0; i < new->n[role]; i++)
			new->tenant[role][i].number = GUARD_SERVERS;
	forget_tenants(p, old, new);
	for (role = 0; role < 2; role++)
		for (i = 0; !ret && i < new->n[role]; i++)
			ret = give_number(p, old, new, &new->tenant[role][i]);
	return ret;
}

int guard_config_set(struct gpreempt_policy *p, struct guard_config *c, char *line,
		     struct guard_config_error *err)
{
	struct guard_config one = { .figures = c->figures };
	struct guard_tenant *t = NULL, *wanted;
	int ret;

	*err = (struct guard_config_error){ 0 };
	memcpy(one.order, c->order, sizeof(one.order));
	ret = guard_config_line(&one, line, err);
	wanted = one.n[0] ? &one.tenant[0][0] : one.n[1] ? &one.tenant[1][0] : NULL;
	if (!ret && wanted) {
		t = find_tenant(c, one.n[1], wanted->word);
		if (!t)
			ret = refuse(err, "it has no such tenant: add it to the file, and reload");
		else if (!gpreempt_policy_set(p, t->number, &wanted->wish))
			t->wish = wanted->wish;
		else
			ret = refuse(err, "these figures cannot be had together");
	} else if (!ret) {
		ret = set_figures(p, &one);
		c->figures = one.figures;
		memcpy(c->order, one.order, sizeof(c->order));
	}
	guard_config_free(&one);
	return ret;
}
