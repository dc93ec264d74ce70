// SPDX-License-Identifier: GPL-2.0-only
/* When requests are due, and a list of what became of them. */
#include "requests.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* xorshift: a few lines, the same numbers everywhere. Above 0, at most 1. */
static double next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (double)((*state >> 11) + 1) / (1ULL << 53);
}

/* Times between arrivals that do not know of each other: exponential. */
static uint64_t next_gap(struct load_requests *r, uint64_t mean_ns)
{
	return (uint64_t)(-log(next_random(&r->random)) * (double)mean_ns);
}

static void begin(struct load_requests *r, const struct load_args *args, uint64_t now)
{
	int i;

	/* Seeds that differ little give numbers that do at first. */
	r->random = args->seed * 0x9e3779b97f4a7c15ULL | 1;
	for (i = 0; i < 16; i++)
		next_random(&r->random);
	r->next_ns = now + args->delay_ns + next_gap(r, args->gap_ns);
}

static void note(struct load_requests *r, uint64_t arrival, uint64_t now, uint64_t first,
		 unsigned int packets)
{
	struct load_request *list;
	size_t room;

	if (r->n == r->room) {
		room = r->room ? 2 * r->room : 1024;
		list = realloc(r->list, room * sizeof(*list));
		if (!list)
			return;
		r->list = list;
		r->room = room;
	}
	r->list[r->n++] = (struct load_request){
		.arrival_ns = arrival,
		.submit_ns = now,
		.first = first,
		.last = first + packets - 1,
	};
}

/* Which part of a request is the n-th sample? 0: its burst. */
static size_t part_of(const struct load_args *args, size_t n)
{
	return n % (args->steps.n + 1);
}

static uint64_t packet_ns_of(const struct load_args *args, size_t n)
{
	return part_of(args, n) ? args->steps.packet_ns : args->packet_ns;
}

/* The next part is due some time after the end of the last one, as the GPU has it. */
static void set_next(struct load_requests *r, const struct load_args *args)
{
	const struct load_steps *steps = &args->steps;

	r->next_ns = r->list[r->n - 1].end_ns;
	if (part_of(args, r->n))
		r->next_ns += steps->from_ns + (uint64_t)(next_random(&r->random) *
							  (double)(steps->to_ns - steps->from_ns));
	else
		r->next_ns += next_gap(r, args->gap_ns);
}

static uint64_t part_due(struct load_requests *r, const struct load_args *args,
			 struct load_ring *ring, uint64_t now, uint64_t room)
{
	unsigned int packets = part_of(args, r->n) ? args->steps.packets : args->burst;

	if (r->done < r->n)
		return 0;
	if (r->n && r->next_ns == r->list[r->n - 1].arrival_ns)
		set_next(r, args);
	if (now < r->next_ns || packets > room)
		return 0;
	ring->packet_ns = packet_ns_of(args, r->n);
	note(r, r->next_ns, now, ring->head, packets);
	return packets;
}

bool load_requests_open(const struct load_requests *r, const struct load_args *args, uint64_t now)
{
	return r->done < r->n || part_of(args, r->n) || (r->random && r->next_ns <= now);
}

uint64_t load_requests_due(struct load_requests *r, const struct load_args *args,
			   struct load_ring *ring, uint64_t now, uint64_t room)
{
	uint64_t n = 0;

	if (args->gap_ns && !r->random)
		begin(r, args, now);
	if (args->steps.n)
		return part_due(r, args, ring, now, room);
	while (n + args->burst <= room && (!args->gap_ns || r->next_ns <= now)) {
		if (args->samples)
			note(r, args->gap_ns ? r->next_ns : now, now, ring->head + n, args->burst);
		if (args->gap_ns)
			r->next_ns += next_gap(r, args->gap_ns);
		n += args->burst;
	}
	return n;
}

static const struct amd_signal *signal_of(const struct load_ring *ring, uint64_t packet)
{
	return &ring->signals[packet & (ring->size - 1)];
}

void load_requests_collect(struct load_requests *r, const struct load_ring *ring)
{
	struct load_request *q;
	size_t i;

	for (i = r->done; i < r->n && r->list[i].first < ring->tail; i++) {
		q = &r->list[i];
		if (!q->start_ns)
			q->start_ns = signal_of(ring, q->first)->start_ts * VGPU_CLOCK_NS;
		if (q->last < ring->tail) {
			q->end_ns = signal_of(ring, q->last)->end_ts * VGPU_CLOCK_NS;
			r->done = i + 1;
		}
	}
}

void load_requests_write(const struct load_requests *r, const struct load_args *args, FILE *out)
{
	const struct load_request *q;
	size_t i;

	for (i = 0; i < r->done; i++) {
		q = &r->list[i];
		fprintf(out, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
			q->arrival_ns, q->submit_ns, q->start_ns, q->end_ns,
			(q->last - q->first + 1) * packet_ns_of(args, i));
	}
}
