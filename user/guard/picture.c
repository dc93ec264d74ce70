// SPDX-License-Identifier: GPL-2.0-only
/* Lanes and spans of the picture: no file, no clock, no lock. */
#include "guard/picture.h"
#include "guard/timeline.h"

#define LEFT 170 /* for a PID of 7 digits and a name of 15 letters */

/* One that is new, or of a target that went out of the picture. */
static int find_room(const struct guard_picture *p, uint64_t now)
{
	size_t i;

	if (p->n < GUARD_LANES)
		return p->n;
	for (i = 0; i < p->n; i++)
		if (p->lane[i].until_ns &&
		    p->lane[i].until_ns + GUARD_WINDOW_NS < now)
			return i;
	return -1;
}

/* It may hold anything; what is no ASCII may be half a letter. */
static void set_name(struct guard_lane *lane, pid_t pid, const char *name)
{
	char *at;

	snprintf(lane->name, sizeof(lane->name), "%d %s", pid, name);
	for (at = lane->name; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
}

int guard_picture_join(struct guard_picture *p, pid_t pid, const char *name,
		       bool online, uint64_t now)
{
	int i = find_room(p, now);
	struct guard_lane *lane;

	if (i < 0) {
		p->left_out++;
		return -1;
	}
	if ((size_t)i == p->n)
		p->n++;
	lane = &p->lane[i];
	*lane = (struct guard_lane){ .online = online, .since_ns = now };
	set_name(lane, pid, name);
	return i;
}

static void push(struct guard_picture *p, int lane, bool ran, uint64_t from,
		 uint64_t to)
{
	struct guard_span *span = &p->span[p->spans % GUARD_SPANS];

	if (p->spans++ >= GUARD_SPANS && span->to_ns > p->dropped_ns)
		p->dropped_ns = span->to_ns;
	*span = (struct guard_span){ lane, ran, from, to };
}

void guard_picture_begin(struct guard_picture *p, int lane, uint64_t ns)
{
	if (lane >= 0 && !p->lane[lane].open_ns)
		p->lane[lane].open_ns = ns;
}

void guard_picture_end(struct guard_picture *p, int lane, uint64_t ns)
{
	if (lane < 0 || !p->lane[lane].open_ns)
		return;
	push(p, lane, false, p->lane[lane].open_ns, ns);
	p->lane[lane].open_ns = 0;
}

void guard_picture_ran(struct guard_picture *p, int lane, uint64_t from,
		       uint64_t to)
{
	if (lane >= 0)
		push(p, lane, true, from, to);
}

void guard_picture_leave(struct guard_picture *p, int lane, uint64_t now)
{
	guard_picture_end(p, lane, now);
	if (lane >= 0)
		p->lane[lane].until_ns = now;
}

/* What is drawn: rows are lanes, those of online targets first. */
struct drawing {
	struct timeline t;
	const char *names[GUARD_LANES];
	int row[GUARD_LANES]; /* of a lane; -1: it went before that */
	char title[192];
};

static void give_rows(struct drawing *d, const struct guard_picture *p,
		      bool online)
{
	size_t i;

	for (i = 0; i < p->n; i++) {
		const struct guard_lane *lane = &p->lane[i];

		if (lane->online != online)
			continue;
		d->row[i] = -1;
		if (lane->until_ns && lane->until_ns <= d->t.from_ns)
			continue;
		d->row[i] = d->t.n_lanes;
		d->names[d->t.n_lanes++] = lane->name;
	}
}

static void put(const struct drawing *d, const struct guard_picture *p,
		size_t lane, enum timeline_kind kind, uint64_t from,
		uint64_t to)
{
	/* A lane may have been another's before. */
	if (d->row[lane] >= 0 && to > p->lane[lane].since_ns)
		timeline_span(&d->t, d->row[lane], kind, from, to);
}

static enum timeline_kind kind_of(const struct guard_lane *lane)
{
	return lane->online ? TIMELINE_WORK : TIMELINE_HELD;
}

static void put_kept(const struct drawing *d, const struct guard_picture *p,
		     bool ran)
{
	size_t kept = p->spans < GUARD_SPANS ? p->spans : GUARD_SPANS, i;

	for (i = 0; i < kept; i++) {
		const struct guard_span *s = &p->span[i];

		if (s->ran == ran)
			put(d, p, s->lane,
			    ran ? TIMELINE_RUNS : kind_of(&p->lane[s->lane]),
			    s->from_ns, s->to_ns);
	}
}

static void put_spans(const struct drawing *d, const struct guard_picture *p)
{
	const struct guard_lane *lane;
	size_t i;

	/* Offline runs where nothing is drawn above it. */
	for (i = 0; i < p->n; i++) {
		lane = &p->lane[i];
		if (!lane->online)
			put(d, p, i, TIMELINE_RUNS, lane->since_ns,
			    lane->until_ns ? lane->until_ns : d->t.to_ns);
	}
	put_kept(d, p, false);
	for (i = 0; i < p->n; i++) {
		lane = &p->lane[i];
		if (lane->open_ns)
			put(d, p, i, kind_of(lane), lane->open_ns, d->t.to_ns);
	}
	/* In the middle of what is grey. */
	put_kept(d, p, true);
}

static void set_title(struct drawing *d, const struct guard_picture *p,
		      bool simulated)
{
	size_t at = snprintf(d->title, sizeof(d->title),
			     "orange: online work; "
			     "blue: offline runs; grey: suspended%s",
			     simulated ? "; simulated GPU" : "");

	if (p->left_out)
		at += snprintf(d->title + at, sizeof(d->title) - at,
			       "; left out: %zu", p->left_out);
	if (p->dropped_ns && p->dropped_ns == d->t.from_ns)
		snprintf(d->title + at, sizeof(d->title) - at,
			 "; older spans dropped");
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void guard_picture_draw(const struct guard_picture *p, uint64_t start,
			uint64_t now, bool simulated, FILE *out)
{
	uint64_t window = now > GUARD_WINDOW_NS ? now - GUARD_WINDOW_NS : 0;
	struct drawing d = {
		.t = {
			.out = out,
			.title = d.title,
			.lanes = d.names,
			.left = LEFT,
			.to_ns = now,
			.from_ns = later(later(start, window), p->dropped_ns),
		},
	};

	give_rows(&d, p, true);
	give_rows(&d, p, false);
	set_title(&d, p, simulated);
	timeline_begin(&d.t);
	put_spans(&d, p);
	timeline_end(&d.t);
}
