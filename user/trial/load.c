// SPDX-License-Identifier: GPL-2.0-only
/*
 * gpreempt-load: a GPU program of our own, on ROCm's runtime, for gpreempt-ctl trial. Its kernel is
 * the witness: what each wave has kept in its registers is checked after each dispatch.
 */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "runtime.h"
#include "shared/text.h"
#include "shared/util.h"
#include "witness.h"

#define KERNARG_MAGIC 0x74706d6565727067ULL /* tests/vgpu/vgpu.h */
#define RING	      256
#define DEPTH	      4	      /* dispatches in flight */
#define WAIT_TICKS    2000000 /* one wait: 20 ms at 100 MHz; then signals are looked at */
#define MAX_WAVES     65536
#define UNIT_LDS      64 /* KiB in a compute unit: lds_size_in_kb of KFD; gfx950 has more */
#define DRAIN_NS      (10 * NSEC_PER_SEC) /* longest wait for dispatches at the end */
#define REPORT_NS     NSEC_PER_SEC	  /* time between two lines */
#define STATUS_WRONG  1
#define STATUS_USAGE  2
#define STATUS_NONE   3 /* no runtime, no GPU, or no kernel for it */
#define STATUS_STUCK  4

struct options {
	uint64_t gpu, registers, lds, waves, part, time_ns, count, memory, rate, gamma;
};

static const struct {
	const char *name;
	size_t offset;
	uint64_t least, most, usual;
	const char *help;
} rows[] = {
#define ROW(name, least, most, usual, help)                                     \
	{                                                                       \
#name, offsetof(struct options, name), least, most, usual, help \
	}
	ROW(gpu, 0, 63, 0, "number of the GPU, in KFD's order"),
	ROW(registers, 32, 512, 32, "vector registers of a lane: 32, 64, 128, 256, 512"),
	ROW(lds, 1, UNIT_LDS, 1, "KiB of LDS of a wave"),
	ROW(waves, 0, MAX_WAVES, 0, "waves of a dispatch; 0: as many as the GPU holds"),
	ROW(part, 1, MAX_WAVES, 1, "of these one in so many"),
	ROW(time_ns, 1000, 10 * NSEC_PER_SEC, NSEC_PER_MSEC, "time of a dispatch"),
	ROW(count, 0, UINT64_MAX, 0, "end after so many dispatches; 0: no limit"),
	ROW(memory, 0, 1 << 20, 0, "MiB of the GPU's memory to keep"),
	ROW(rate, 0, 1000000, 0, "requests a second at random times; 0: one after the other"),
	ROW(gamma, 1, 100, 1, "shape of the times between requests; 1: Poisson"),
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
	const struct witness_object *object;
	unsigned int places[WITNESS_KINDS]; /* with the pattern */
	uint64_t kernel, waves, depth;
	uint32_t rounds;
	struct runtime_queue *queue;
	struct slot slots[DEPTH];
	uint32_t *hashes; /* the waves must have these */
	uint64_t submitted, completed, lost, right, wrong, unrun, longest_ns, moved_ns, next_ns;
	SHR_ARRAY(uint64_t, latencies);
	struct shr_stats requests; /* their latencies, at the end */
	bool failed;
	char first_wrong[160]; /* the first wave or dispatch that was */
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
	if (type != RUNTIME_DEVICE_GPU || rt->seen++ != rt->wanted)
		return 0;
	rt->gpu = agent;
	rt->hsa_amd_agent_iterate_memory_pools(agent, look_at_pool, rt);
	rt->hsa_agent_get_info(agent, RUNTIME_NAME, rt->gfx);
	rt->hsa_agent_get_info(agent, RUNTIME_COMPUTE_UNITS, &rt->units);
	rt->hsa_agent_get_info(agent, RUNTIME_SIMDS_PER_CU, &rt->simds);
	return 0;
}

/* Load it, and take the GPU with that number, in KFD's order. */
static bool runtime_start(struct runtime *rt, uint64_t gpu)
{
	void *library = dlopen(RUNTIME_LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return did(rt, dlerror(), WITHOUT_STATUS);
#define RUNTIME_FIND(type, name, args)                 \
	*(void **)(&rt->name) = dlsym(library, #name); \
	if (!rt->name)                                 \
		return did(rt, dlerror(), WITHOUT_STATUS);
	RUNTIME_CALLS(RUNTIME_FIND)
	rt->wanted = gpu;
	return DID(rt, hsa_init) && DID(rt, hsa_iterate_agents, look_at_agent, rt) &&
	       did(rt, "is there a GPU with that number?",
		   rt->gpu && rt->system && rt->vram ? 0 : WITHOUT_STATUS);
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

static volatile sig_atomic_t stopped;

static void on_stop(int sig)
{
	(void)sig;
	stopped = 1;
}

/* Print the reason that the runtime's calls have left. */
static int fail(const struct runtime *rt)
{
	const char *text = NULL;

	if (rt->status != WITHOUT_STATUS)
		rt->hsa_status_string(rt->status, &text);
	fprintf(stderr, "gpreempt-load: %s%s%s\n", rt->why, text ? ": " : "", text ? text : "");
	return STATUS_NONE;
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
		.group_size = l->o.lds << 10,
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

static void wait_for(struct load *l, const struct slot *s)
{
	if (s->busy)
		l->rt.hsa_signal_wait_scacquire(s->signal, RUNTIME_LESS_THAN, 1, WAIT_TICKS,
						RUNTIME_WAIT_BLOCKED);
	else
		shr_sleep_ns(200 * NSEC_PER_USEC);
}

/* Print an object of JSON on a line: all that is known so far. */
static void print_line(const struct load *l, const char *state)
{
	const char *wrong = l->first_wrong, *quote = *wrong ? "\"" : "";
	const struct shr_stats *r = &l->requests;

	printf("{\"state\":\"%s\",\"gfx\":\"%s\",\"ring\":\"%#" PRIxPTR "\",\"waves\":%" PRIu64
	       ",\"registers\":%" PRIu64 ",\"lds_bytes\":%" PRIu64 ",\"rounds\":%u,\"code\":\"%s\"",
	       state, l->rt.gfx, (uintptr_t)l->queue->base, l->waves, l->object->registers,
	       l->o.lds << 10, l->rounds,
	       l->right ? "runs" :
	       l->wrong ? "is wrong" :
			  "does not run");
	printf(",\"submitted\":%" PRIu64 ",\"completed\":%" PRIu64 ",\"lost\":%" PRIu64
	       ",\"right\":%" PRIu64 ",\"wrong\":%" PRIu64 ",\"unrun\":%" PRIu64
	       ",\"longest_gap_us\":%" PRIu64 ",\"first_wrong\":%s%s%s,\"requests\":",
	       l->submitted, l->completed, l->lost, l->right, l->wrong, l->unrun,
	       (uint64_t)(l->longest_ns / NSEC_PER_USEC), quote, *wrong ? wrong : "null", quote);
	if (r->n)
		printf("{\"n\":%zu,\"p50\":%.1f,\"p99\":%.1f,\"max\":%.1f}}\n", r->n,
		       r->p50 / 1000.0, r->p99 / 1000.0, r->max / 1000.0);
	else
		puts("null}");
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
		if (!stop_ns && (stopped || l->failed || (count && l->submitted == last)))
			stop_ns = now;
		retire(l, s, now);
		if (!stop_ns && !s->busy && is_due(l, now, &due_ns))
			submit(l, s, due_ns);
		if (stop_ns && l->completed == l->submitted)
			return true;
		if (stop_ns && (l->failed || now - stop_ns > DRAIN_NS))
			return false;
		if (now - line_ns >= REPORT_NS && !count) {
			print_line(l, "working");
			line_ns = now;
		}
		wait_for(l, &l->slots[(turn + 1) % l->depth]);
	}
}

/* Rounds that take about the time asked for, by dispatches that become longer. */
static bool calibrate(struct load *l)
{
	uint64_t took = 0;

	l->depth = 1;
	for (l->rounds = 1; l->rounds < 1 << 24; l->rounds *= 2) {
		uint64_t start = shr_now_ns();

		if (!run(l, 1) || stopped)
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
	uint64_t waves = l->rt.simds * l->object->waves, by_lds = UNIT_LDS / l->o.lds;

	return l->rt.units * (waves < by_lds ? waves : by_lds);
}

static int start(struct load *l)
{
	const struct witness_object *o = witness_objects;
	struct runtime *rt = &l->rt;
	void *kept;

	if (!runtime_start(rt, l->o.gpu))
		return fail(rt);
	while (o->gfx && (strcmp(o->gfx, rt->gfx) || o->size != l->o.registers))
		o++;
	if (!o->gfx) {
		fprintf(stderr,
			"gpreempt-load: no witness of %" PRIu64 " registers for %s was built\n",
			l->o.registers, rt->gfx);
		return STATUS_NONE;
	}
	l->object = o;
	l->places[WITNESS_VGPR] = o->vgprs;
	l->places[WITNESS_AGPR] = o->agprs;
	l->places[WITNESS_SGPR] = WITNESS_SGPRS;
	l->places[WITNESS_WORD] = (l->o.lds << 10) / (WITNESS_LANES * sizeof(uint32_t));
	l->waves = l->o.waves ? l->o.waves : waves_that_fit(l) / l->o.part;
	l->waves += !l->waves;
	if (!runtime_kernel(rt, o, &l->kernel) ||
	    !DID(rt, hsa_queue_create, rt->gpu, RING, 0, on_error, l, UINT32_MAX, UINT32_MAX,
		 &l->queue) ||
	    (l->o.memory &&
	     !DID(rt, hsa_amd_memory_pool_allocate, rt->vram, l->o.memory << 20, 0, &kept)) ||
	    !make_slots(l))
		return fail(rt);
	return 0;
}

static int finish(struct load *l, bool drained)
{
	shr_stats(l->latencies.items, l->latencies.count, &l->requests);
	print_line(l, "done");
	fflush(stdout);
	/* Dispatches in flight would make the runtime wait. */
	if (!drained) {
		fputs("gpreempt-load: dispatches did not come back\n", stderr);
		_exit(STATUS_STUCK);
	}
	l->rt.hsa_queue_destroy(l->queue);
	l->rt.hsa_shut_down();
	return l->wrong || l->lost || l->failed ? STATUS_WRONG : 0;
}

static void usage(FILE *f)
{
	size_t i;

	fputs("usage: gpreempt-load [--NAME NUMBER]...\n"
	      "Keep a GPU busy by the witness, and check what its waves kept in registers.\n\n",
	      f);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		fprintf(f, "  --%-12s %s (%" PRIu64 ")\n", rows[i].name, rows[i].help,
			rows[i].usual);
	fputs("\nExit status: 0 all waves were right, or no code ran; 1 one was not; 2 usage;\n"
	      "3 no runtime, GPU or kernel; 4 dispatches did not come back.\n",
	      f);
}

/* 0 or -EINVAL, after a message if it is about a number. */
static int parse(struct options *o, int argc, char **argv)
{
	size_t i;
	int a;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		*(uint64_t *)((char *)o + rows[i].offset) = rows[i].usual;
	for (a = 1; a < argc; a += 2) {
		uint64_t *value;

		for (i = 0; i < ARRAY_SIZE(rows); i++)
			if (!strncmp(argv[a], "--", 2) && !strcmp(argv[a] + 2, rows[i].name))
				break;
		if (i == ARRAY_SIZE(rows) || a + 1 == argc)
			return -EINVAL;
		value = (uint64_t *)((char *)o + rows[i].offset);
		if (!shr_parse_u64(argv[a + 1], rows[i].most, value) && *value >= rows[i].least)
			continue;
		fprintf(stderr, "gpreempt-load: --%s is a number from %" PRIu64 " to %" PRIu64 "\n",
			rows[i].name, rows[i].least, rows[i].most);
		return -EINVAL;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct load l;
	struct sigaction action = { .sa_handler = on_stop };
	bool help = argc == 2 && !strcmp(argv[1], "--help");
	int status = parse(&l.o, argc, argv);
	bool drained;

	if (status) {
		usage(help ? stdout : stderr);
		return help ? 0 : STATUS_USAGE;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
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
