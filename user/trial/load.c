// SPDX-License-Identifier: GPL-2.0-only
/*
 * gpreempt-load: a GPU program of our own, on ROCm's runtime, for gpreempt-ctl trial. Its kernel is
 * the witness: what each wave has kept in its registers is checked after each dispatch.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/program.h"
#include "runtime.h"
#include "witness.h"

#define KERNARG_MAGIC 0x74706d6565727067ULL /* tests/vgpu/vgpu.h */
#define RING	      256
#define DEPTH	      4	      /* dispatches in flight */
#define WAIT_TICKS    2000000 /* one wait: 20 ms at 100 MHz; then signals are looked at */
#define UNIT_LDS      64      /* KiB in a compute unit: lds_size_in_kb of KFD; gfx950 has more */
#define MOST_NS	      (10 * NSEC_PER_SEC) /* the longest dispatch, and wait for all at the end */
#define REPORT_NS     NSEC_PER_SEC	  /* time between two lines */
#define STUCK	      4			  /* exit status: dispatches did not come back */

struct options {
	uint64_t registers, lds, waves, part, time_ns, count, memory, rate, gamma;
};

/* The kernels that make-witness has built: objects.S. */
struct witness_object {
	const char *gfx;
	uint64_t size;		      /* one of WITNESS_SIZES, */
	uint64_t vgprs, agprs, waves; /* and its row */
	uint64_t registers;	      /* the compiler took so many */
	const void *code;
	uint64_t length;
};

extern const struct witness_object witness_objects[]; /* up to one without a name */

/* A dispatch in flight, and what it is judged by. */
struct slot {
	struct witness_args *kernarg;
	uint64_t *cell, seen;
	struct witness_wave *out;
	uint64_t signal, due_ns;
	bool busy;
};

struct load {
	struct options o;
	struct runtime rt;
	struct witness_object object;
	unsigned int places[WITNESS_KINDS]; /* with the pattern */
	uint64_t kernel, waves, rounds, depth, lds_bytes, ring;
	struct runtime_queue *queue;
	struct slot slots[DEPTH];
	uint32_t *hashes; /* the waves must have these */
	uint64_t submitted, completed, lost, right, wrong, unrun, longest_ns, moved_ns, next_ns;
	SHR_ARRAY(uint64_t, latencies);
	struct shr_stats requests; /* their latencies, at the end */
	bool failed;
	int stop;	       /* descriptor, readable after a signal */
	char first_wrong[160]; /* the first wave or dispatch that was */
	const char *state, *code;
};

/* ROCm's runtime, one GPU of it, and a kernel. */

/* Note a call that failed, or another reason, without a status. False: it did. */
static bool did(struct runtime *rt, const char *call, int status)
{
	rt->why = call;
	rt->status = status;
	return !status;
}

#define DID(rt, call, ...) did(rt, #call, (rt)->call(__VA_ARGS__))
#define WITHOUT_STATUS	   (-1)

static int look_at_pool(uint64_t pool, void *data)
{
	struct runtime *rt = data;
	uint32_t segment = 1, flags = 0;
	uint32_t wanted = rt->pool == &rt->vram ? RUNTIME_POOL_COARSE : RUNTIME_POOL_FINE;
	bool may = false;

	rt->hsa_amd_memory_pool_get_info(pool, RUNTIME_POOL_SEGMENT, &segment);
	rt->hsa_amd_memory_pool_get_info(pool, RUNTIME_POOL_FLAGS, &flags);
	rt->hsa_amd_memory_pool_get_info(pool, RUNTIME_POOL_MAY_ALLOCATE, &may);
	if (segment || !may || !(flags & wanted) || flags & RUNTIME_POOL_KERNARG)
		return 0;
	*rt->pool = pool;
	return RUNTIME_INFO_BREAK;
}

static int look_at_agent(uint64_t agent, void *data)
{
	struct runtime *rt = data;
	uint32_t type = RUNTIME_DEVICE_CPU;

	rt->hsa_agent_get_info(agent, RUNTIME_DEVICE, &type);
	rt->pool = type == RUNTIME_DEVICE_CPU ? &rt->system : &rt->vram;
	if (type == RUNTIME_DEVICE_CPU && !rt->system)
		rt->hsa_amd_agent_iterate_memory_pools(agent, look_at_pool, rt);
	if (type != RUNTIME_DEVICE_GPU || rt->gpu)
		return 0;
	rt->gpu = agent;
	rt->hsa_amd_agent_iterate_memory_pools(agent, look_at_pool, rt);
	rt->hsa_agent_get_info(agent, RUNTIME_NAME, rt->gfx);
	rt->hsa_agent_get_info(agent, RUNTIME_COMPUTE_UNITS, &rt->units);
	rt->hsa_agent_get_info(agent, RUNTIME_SIMDS_PER_CU, &rt->simds);
	return 0;
}

/* Returns zeroed memory of the host that the GPU can write, or NULL. */
static void *runtime_host(struct runtime *rt, size_t size)
{
	void *memory = NULL;

	if (rt->hsa_amd_memory_pool_allocate(rt->system, size, 0, &memory) ||
	    rt->hsa_amd_agents_allow_access(1, &rt->gpu, NULL, memory))
		return NULL;
	memset(memory, 0, size);
	return memory;
}

/* Load a kernel: its descriptor for packets. */
static bool runtime_kernel(struct runtime *rt, const struct witness_object *o, uint64_t *kernel)
{
	uint64_t reader, executable, symbol;

	return DID(rt, hsa_code_object_reader_create_from_memory, o->code, o->length, &reader) &&
	       DID(rt, hsa_executable_create_alt, RUNTIME_PROFILE_FULL, 0, NULL, &executable) &&
	       DID(rt, hsa_executable_load_agent_code_object, executable, rt->gpu, reader, NULL,
		   NULL) &&
	       DID(rt, hsa_executable_freeze, executable, NULL) &&
	       DID(rt, hsa_executable_get_symbol_by_name, executable, "witness.kd", &rt->gpu,
		   &symbol) &&
	       DID(rt, hsa_executable_symbol_get_info, symbol, RUNTIME_KERNEL_OBJECT, kernel);
}

/* Print the reason that the runtime's calls have left. */
static int fail(const struct runtime *rt)
{
	const char *text = NULL;

	if (rt->status != WITHOUT_STATUS)
		rt->hsa_status_string(rt->status, &text);
	return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED, NULL, "%s%s%s", rt->why, text ? ": " : "",
			     text ? text : "");
}

static void on_error(int status, struct runtime_queue *queue, void *data)
{
	struct load *l = data;

	(void)queue;
	did(&l->rt, "the queue failed", status);
	fail(&l->rt);
	l->failed = true;
}

/* Keep which register of which lane was wrong first. */
static void tell(struct load *l, uint32_t wave, const struct witness_wave *w)
{
	uint32_t nth = w->where, kind = witness_kind(l->places, &nth);

	if (*l->first_wrong)
		return;
	if (w->bad)
		snprintf(l->first_wrong, sizeof(l->first_wrong),
			 "wave %u lane %u %s %u bits %#x, in %u rounds of lanes", wave, w->lane,
			 witness_kinds[kind], nth, w->differ, w->bad);
	else
		snprintf(l->first_wrong, sizeof(l->first_wrong),
			 "wave %u rounds %u hash %#x, must be %#x", wave, w->rounds, w->hash,
			 l->hashes[wave]);
}

static void judge(struct load *l, const struct slot *s)
{
	int64_t counted = *s->cell - s->seen;
	uint32_t i;

	l->lost += counted != 1;
	if (counted != 1 && !*l->first_wrong)
		snprintf(l->first_wrong, sizeof(l->first_wrong),
			 "dispatch %" PRIu64 " counted by %" PRId64, l->completed, counted);
	for (i = 0; i < l->waves; i++) {
		const struct witness_wave *w = &s->out[i];

		if (w->done != WITNESS_DONE) {
			l->unrun++;
		} else if (!w->bad && w->rounds == l->rounds && w->hash == l->hashes[i]) {
			l->right++;
		} else {
			l->wrong++;
			tell(l, i, w);
		}
	}
}

static void submit(struct load *l, struct slot *s, uint64_t due_ns)
{
	uint64_t at = l->rt.hsa_queue_add_write_index_relaxed(l->queue, 1);
	struct runtime_packet *p =
		(struct runtime_packet *)l->queue->base + (at & (l->queue->size - 1));
	struct runtime_packet packet = {
		.workgroup = { WITNESS_LANES, 1, 1 },
		.grid = { WITNESS_LANES * l->waves, 1, 1 },
		.group_size = l->lds_bytes,
		.kernel = l->kernel,
		.kernarg = (uintptr_t)s->kernarg,
		.signal = s->signal,
	};

	memset(s->out, 0, l->waves * sizeof(*s->out));
	s->kernarg->rounds = l->rounds;
	l->rt.hsa_signal_store_screlease(s->signal, 1);
	runtime_fill(p, &packet);
	__atomic_store_n(&p->header, RUNTIME_DISPATCH, __ATOMIC_RELEASE);
	l->rt.hsa_signal_store_screlease(l->queue->doorbell, at);
	s->busy = true;
	s->due_ns = due_ns;
	l->submitted++;
}

/* Take a dispatch that has completed. */
static void retire(struct load *l, struct slot *s, uint64_t now)
{
	if (!s->busy || l->rt.hsa_signal_load_scacquire(s->signal) >= 1)
		return;
	s->busy = false;
	l->completed++;
	judge(l, s);
	s->seen = *s->cell;
	if (now - l->moved_ns > l->longest_ns)
		l->longest_ns = now - l->moved_ns;
	l->moved_ns = now;
	if (l->o.rate && l->latencies.count < 1000000)
		*(uint64_t *)shr_must(shr_add(&l->latencies)) = now - s->due_ns;
}

#define FIELD(member, kind, ...)       OUT_FIELD(struct load, member, NULL, kind, __VA_ARGS__)
#define NAMED(name, member, kind, ...) OUT_NAMED(name, struct load, member, NULL, kind, __VA_ARGS__)

static const struct out_field fields[] = {
	FIELD(state, OUT_TEXT),
	NAMED("gfx", rt.gfx, OUT_TEXT, .array = true),
	FIELD(ring, OUT_HEX),
	FIELD(waves, OUT_DEC),
	NAMED("registers", object.registers, OUT_DEC),
	FIELD(lds_bytes, OUT_DEC),
	FIELD(rounds, OUT_DEC),
	FIELD(code, OUT_TEXT),
	FIELD(submitted, OUT_DEC),
	FIELD(completed, OUT_DEC),
	FIELD(lost, OUT_DEC),
	FIELD(right, OUT_DEC),
	FIELD(wrong, OUT_DEC),
	FIELD(unrun, OUT_DEC),
	NAMED("longest_gap_us", longest_ns, OUT_US),
	FIELD(first_wrong, OUT_TEXT, .array = true),
};

static const struct out_table table = OUT_TABLE("load", fields, struct load);

/* Print an object of JSON on a line: all that is known so far. */
static void print_line(struct load *l, const char *state)
{
	struct json_object *o;

	l->state = state;
	l->code = l->right ? "runs" : l->wrong ? "is wrong" : "does not run";
	o = out_json_row(&table, l);
	out_add(o, "requests", out_json_stats(&l->requests));
	out_json_print_line(o);
}

/* May this slot get a dispatch now? *due_ns: the time at which its request came. */
static bool is_due(struct load *l, uint64_t now, uint64_t *due_ns)
{
	double sum = 0;
	uint64_t i;

	*due_ns = now;
	if (!l->o.rate)
		return true;
	if (now < l->next_ns)
		return false;
	*due_ns = l->next_ns;
	/* A Gamma variate of a whole shape is a sum of exponential ones. */
	for (i = 0; i < l->o.gamma; i++)
		sum -= log(1 - drand48());
	l->next_ns += (uint64_t)(sum / l->o.gamma * NSEC_PER_SEC / l->o.rate);
	return true;
}

/* Submit and take back, one slot after the other. False: not all came back in time. */
static bool run(struct load *l, uint64_t count)
{
	uint64_t start = shr_now_ns(), line_ns = start, last = l->submitted + count, stop_ns = 0;
	uint64_t turn = 0, now, due_ns;

	l->moved_ns = start;
	l->next_ns = start;
	for (;; turn++) {
		struct slot *s = &l->slots[turn % l->depth];

		now = shr_now_ns();
		if (!stop_ns &&
		    (shr_readable(l->stop, 0) || l->failed || (count && l->submitted == last)))
			stop_ns = now;
		retire(l, s, now);
		if (!stop_ns && !s->busy && is_due(l, now, &due_ns))
			submit(l, s, due_ns);
		if (stop_ns && l->completed == l->submitted)
			return true;
		if (stop_ns && (l->failed || now - stop_ns > MOST_NS))
			return false;
		if (now - line_ns >= REPORT_NS && !count) {
			print_line(l, "working");
			line_ns = now;
		}
		s = &l->slots[(turn + 1) % l->depth];
		if (s->busy)
			l->rt.hsa_signal_wait_scacquire(s->signal, RUNTIME_LESS_THAN, 1, WAIT_TICKS,
							RUNTIME_WAIT_BLOCKED);
		else
			shr_sleep_ns(200 * NSEC_PER_USEC);
	}
}

/* Rounds that take about the time asked for, by dispatches that become longer. */
static bool calibrate(struct load *l)
{
	uint64_t took = 0;

	l->depth = 1;
	for (l->rounds = 1; l->rounds < 1 << 24; l->rounds *= 2) {
		uint64_t start = shr_now_ns();

		if (!run(l, 1) || shr_readable(l->stop, 0))
			return false;
		took = shr_now_ns() - start;
		/* No code ran: the time is the virtual GPU's, and rounds mean nothing. */
		if (took >= NSEC_PER_MSEC || took >= l->o.time_ns || l->unrun)
			break;
	}
	if (!l->unrun)
		l->rounds = (double)l->rounds * l->o.time_ns / took + 1;
	l->depth = DEPTH;
	l->longest_ns = 0;
	return true;
}

static bool make_slots(struct load *l)
{
	size_t i;

	for (i = 0; i < DEPTH; i++) {
		struct slot *s = &l->slots[i];

		s->kernarg = runtime_host(&l->rt, 4096);
		s->out = runtime_host(&l->rt, l->waves * sizeof(*s->out));
		if (!s->kernarg || !s->out || l->rt.hsa_signal_create(1, 0, NULL, &s->signal))
			return did(&l->rt, "no memory that the GPU can reach", WITHOUT_STATUS);
		/* Behind the arguments that the compiler adds, which this kernel does not read. */
		s->cell = (uint64_t *)s->kernarg + 256;
		*s->kernarg = (struct witness_args){
			.magic = KERNARG_MAGIC,
			.duration_ns = l->o.time_ns,
			.cell = (uintptr_t)s->cell,
			.addend = 1,
			.out = (uintptr_t)s->out,
			.words = l->places[WITNESS_WORD],
		};
	}
	l->hashes = shr_must(calloc(l->waves, sizeof(*l->hashes)));
	for (i = 0; i < l->waves; i++)
		l->hashes[i] = witness_hash(l->places, i);
	return true;
}

/* Waves that the GPU holds at a time, by their registers and their LDS. */
static uint64_t waves_that_fit(const struct load *l)
{
	uint64_t waves = l->rt.simds * l->object.waves, by_lds = UNIT_LDS / l->o.lds;

	return l->rt.units * (waves < by_lds ? waves : by_lds);
}

#define ROW(type, name, args) { #name, offsetof(struct runtime, name) },

static int start(struct load *l)
{
	static const struct dynlib_call calls[] = { RUNTIME_CALLS(ROW) DYNLIB_END };
	const struct witness_object *o = witness_objects;
	struct runtime *rt = &l->rt;
	int ret = dynlib_load(RUNTIME_LIBRARY, "libhsa-runtime64-1", calls, rt);
	void *kept;

	if (ret)
		return ret;
	if (!DID(rt, hsa_init) || !DID(rt, hsa_iterate_agents, look_at_agent, rt) ||
	    !did(rt, "ROCm's runtime has no GPU: is it in ROCR_VISIBLE_DEVICES?",
		 rt->gpu && rt->system && rt->vram ? 0 : WITHOUT_STATUS))
		return fail(rt);
	while (o->gfx && (strcmp(o->gfx, rt->gfx) || o->size != l->o.registers))
		o++;
	if (!o->gfx)
		return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED, NULL,
				     "no witness of %" PRIu64 " registers for %s was built",
				     l->o.registers, rt->gfx);
	l->object = *o;
	l->lds_bytes = l->o.lds << 10;
	l->places[WITNESS_VGPR] = o->vgprs;
	l->places[WITNESS_AGPR] = o->agprs;
	l->places[WITNESS_SGPR] = WITNESS_SGPRS;
	l->places[WITNESS_WORD] = l->lds_bytes / (WITNESS_LANES * sizeof(uint32_t));
	l->waves = l->o.waves ? l->o.waves : waves_that_fit(l) / l->o.part;
	l->waves += !l->waves;
	if (!runtime_kernel(rt, o, &l->kernel) ||
	    !DID(rt, hsa_queue_create, rt->gpu, RING, 0, on_error, l, UINT32_MAX, UINT32_MAX,
		 &l->queue) ||
	    (l->o.memory &&
	     !DID(rt, hsa_amd_memory_pool_allocate, rt->vram, l->o.memory << 20, 0, &kept)) ||
	    !make_slots(l))
		return fail(rt);
	l->ring = (uintptr_t)l->queue->base;
	return 0;
}

static int finish(struct load *l, bool drained)
{
	shr_stats(l->latencies.items, l->latencies.count, &l->requests);
	print_line(l, "done");
	/* Dispatches in flight would make the runtime wait. */
	if (!drained)
		_exit(ctl_fail_text(STUCK, NULL, "dispatches did not come back"));
	l->rt.hsa_queue_destroy(l->queue);
	l->rt.hsa_shut_down();
	return l->wrong || l->lost || l->failed ? GPREEMPT_CLASS_FAILED : 0;
}

/* The command line. */

#define OPTION(name, kind, member, arg, help)                           \
	{                                                               \
		name, kind, offsetof(struct options, member), arg, help \
	}

static const struct ctl_option options[] = {
	OPTION("registers", CTL_COUNT, registers, "N", "vector registers of a lane (32)"),
	OPTION("lds", CTL_COUNT, lds, "KIB", "LDS of a wave (1)"),
	OPTION("waves", CTL_COUNT, waves, "N", "waves of a dispatch (all that the GPU holds)"),
	OPTION("part", CTL_COUNT, part, "N", "of these one in so many (1)"),
	OPTION("time", CTL_DURATION, time_ns, "TIME", "time of a dispatch (1ms)"),
	OPTION("count", CTL_COUNT, count, "N", "end after so many dispatches"),
	OPTION("memory", CTL_COUNT, memory, "MIB", "keep so much of the GPU's memory"),
	OPTION("rate", CTL_COUNT, rate, "N", "requests a second at random times"),
	OPTION("gamma", CTL_COUNT, gamma, "N", "shape of the times between them (1: Poisson)"),
	{ 0 },
};

static const struct ctl_command command = {
	.name = "",
	.summary = "Keep a GPU busy by the witness, and check what its waves kept in registers.",
	.details = "The GPU is the first in ROCR_VISIBLE_DEVICES. Exit status 0: all waves were\n"
		   "right, or no code ran; 1: one was not; 2: usage; 3: no runtime, GPU or\n"
		   "kernel; 4: dispatches did not come back.\n",
	.options = options,
};

static const struct ctl_program program = { .name = "gpreempt-load" };

int main(int argc, char **argv)
{
	static struct load l = {
		.o = { .registers = 32, .lds = 1, .part = 1, .time_ns = NSEC_PER_MSEC, .gamma = 1 }
	};
	bool drained;
	int status;

	ctl_set_program(&program);
	status = ctl_parse(&command, argc, argv, &l.o);
	if (status >= 0)
		return status;
	if (l.o.time_ns < NSEC_PER_USEC || l.o.time_ns > MOST_NS || l.o.lds > UNIT_LDS)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-load --help",
				     "--time is from 1us to 10s, --lds from 1 to %d", UNIT_LDS);
	l.stop = shr_signals_open_stop();
	status = start(&l);
	if (status)
		return status;
	drained = calibrate(&l);
	if (drained) {
		print_line(&l, "ready");
		drained = run(&l, l.o.count);
	}
	return finish(&l, drained || l.completed == l.submitted);
}
