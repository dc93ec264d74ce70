// SPDX-License-Identifier: GPL-2.0-only
/* The command line of vgpu-load. */
#include "args.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char load_usage[] =
	"usage: vgpu-load [options]\n"
	"A GPU process that submits dispatches of a known length through KFD and\n"
	"checks that each one ran exactly once and in order.\n"
	"\n"
	"  -g, --gpus LIST|all  GPUs by their place in the topology (default 0)\n"
	"  -q, --queues N       AQL compute queues on each GPU (default 1)\n"
	"  -s, --sdma N         SDMA queues on each GPU, idle without --sdma-work (default 0)\n"
	"  -P, --priority N     of the compute queues, 0 to 15 (default 7)\n"
	"  -p, --packet DUR     GPU time of a dispatch (default 1ms)\n"
	"      --workgroups N   of a dispatch, of 256 work-items each (default: one work-item)\n"
	"  -r, --rate N         dispatches a second and queue (default: flat out)\n"
	"  -n, --count N        stop after N packets a queue\n"
	"      --every DUR      requests at random times, this long apart in the mean\n"
	"      --delay DUR      before the first of them is due\n"
	"      --seed N         of their times: the same N, the same times (default 1)\n"
	"      --burst N        packets of a request, submitted at once (default 1)\n"
	"      --steps N,PACKETS,DUR,MIN,MAX  after the burst of a request N steps of PACKETS\n"
	"                       packets of DUR, each MIN to MAX after the end of what was before;\n"
	"                       --every is from the end of a request to the next one then\n"
	"      --online         begin and end these requests with guard\n"
	"      --samples FILE   the times of each request and step, written at the end\n"
	"      --kick           tell the simulated GPU when a doorbell is rung\n"
	"  -d, --duration DUR   stop after this time\n"
	"      --report DUR     between progress lines (default 100ms, 0: none)\n"
	"      --drain DUR      wait for the last packets (default 10s)\n"
	"      --ring N         packets that a ring holds, a power of two (default 1024)\n"
	"      --depth N        packets in flight a queue (default: 200 ms of work)\n"
	"      --barrier N      a barrier-AND packet after every N dispatches\n"
	"      --per-queue      progress lines end with each queue's completed count\n"
	"      --sdma-work      SDMA queues add to a counter and write fences, flat out\n"
	"      --churn DUR      a thread makes a queue and destroys it, each DUR\n"
	"      --churn-how HOW  empty (default): a queue without work; busy: with work;\n"
	"                       lie: the driver is given one queue to destroy, and then the\n"
	"                       argument's memory is made to name the first queue;\n"
	"                       quick: its ring is full when it is made, and it is destroyed\n"
	"                       at once\n"
	"      --attack HOW=FILE  at SIGHUP, with a file that need not answer: exec, driver\n"
	"                       (its memory is given to the driver), number (the file gets the\n"
	"                       number of the descriptor of /dev/kfd); move (that descriptor\n"
	"                       gets another number all the time, for 10 s)\n"
	"      --crowd N        has N descriptors before /dev/kfd's, 200 threads and a timer of\n"
	"                       1 kHz\n"
	"      --leave          exit without destroying the queues\n"
	"      --no-runtime     do not enable the runtime, as a program without ROCr\n"
	"      --acquire-used   take an address space on GPUs with queues only (ROCm: all)\n"
	"  -h, --help\n"
	"\n"
	"DUR: a number with ns, us, ms or s (a plain number: seconds).\n"
	"SIGTERM, SIGINT: stop submitting, wait, undo, print the result.\n"
	"SIGUSR1: counted. SIGUSR2: one more compute queue on each GPU. SIGHUP: the attack;\n"
	"without one it becomes another program (sleep 60) without undoing anything.\n"
	"Exit status: 0 each packet ran exactly once and in order; 1 not so, or failed;\n"
	"2 usage; 3 ended before the last packets were done, nothing else is wrong.\n";

enum {
	OPT_REPORT = 0x100,
	OPT_WORKGROUPS,
	OPT_EVERY,
	OPT_DELAY,
	OPT_SEED,
	OPT_BURST,
	OPT_STEPS,
	OPT_ONLINE,
	OPT_SAMPLES,
	OPT_KICK,
	OPT_DRAIN,
	OPT_RING,
	OPT_DEPTH,
	OPT_BARRIER,
	OPT_PER_QUEUE,
	OPT_CHURN,
	OPT_CHURN_HOW,
	OPT_ATTACK,
	OPT_CROWD,
	OPT_LEAVE,
	OPT_NO_RUNTIME,
	OPT_ACQUIRE_USED,
	OPT_SDMA_WORK,
};

static const struct option options[] = { { "gpus", required_argument, NULL, 'g' },
					 { "queues", required_argument, NULL, 'q' },
					 { "sdma", required_argument, NULL, 's' },
					 { "priority", required_argument, NULL, 'P' },
					 { "packet", required_argument, NULL, 'p' },
					 { "workgroups", required_argument, NULL, OPT_WORKGROUPS },
					 { "rate", required_argument, NULL, 'r' },
					 { "count", required_argument, NULL, 'n' },
					 { "duration", required_argument, NULL, 'd' },
					 { "every", required_argument, NULL, OPT_EVERY },
					 { "delay", required_argument, NULL, OPT_DELAY },
					 { "seed", required_argument, NULL, OPT_SEED },
					 { "burst", required_argument, NULL, OPT_BURST },
					 { "steps", required_argument, NULL, OPT_STEPS },
					 { "online", no_argument, NULL, OPT_ONLINE },
					 { "samples", required_argument, NULL, OPT_SAMPLES },
					 { "kick", no_argument, NULL, OPT_KICK },
					 { "report", required_argument, NULL, OPT_REPORT },
					 { "drain", required_argument, NULL, OPT_DRAIN },
					 { "ring", required_argument, NULL, OPT_RING },
					 { "depth", required_argument, NULL, OPT_DEPTH },
					 { "barrier", required_argument, NULL, OPT_BARRIER },
					 { "per-queue", no_argument, NULL, OPT_PER_QUEUE },
					 { "churn", required_argument, NULL, OPT_CHURN },
					 { "churn-how", required_argument, NULL, OPT_CHURN_HOW },
					 { "attack", required_argument, NULL, OPT_ATTACK },
					 { "crowd", required_argument, NULL, OPT_CROWD },
					 { "leave", no_argument, NULL, OPT_LEAVE },
					 { "no-runtime", no_argument, NULL, OPT_NO_RUNTIME },
					 { "acquire-used", no_argument, NULL, OPT_ACQUIRE_USED },
					 { "sdma-work", no_argument, NULL, OPT_SDMA_WORK },
					 { "help", no_argument, NULL, 'h' },
					 {} };

int load_parse_duration(const char *text, uint64_t *ns)
{
	static const struct {
		const char *suffix;
		double ns;
	} units[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "", 1e9 },
	};
	double value;
	char *end;
	size_t i;

	value = strtod(text, &end);
	if (end == text || !(value >= 0) || value > 1e9)
		return -EINVAL;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].suffix) == 0) {
			*ns = (uint64_t)(value * units[i].ns + 0.5);
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	unsigned long long value;
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || value < min || value > max)
		return -EINVAL;
	*out = value;
	return 0;
}

static int parse_unsigned(const char *text, unsigned int min, unsigned int max, unsigned int *out)
{
	uint64_t value;
	int ret;

	ret = parse_number(text, min, max, &value);
	if (!ret)
		*out = (unsigned int)value;
	return ret;
}

static int parse_gpus(const char *text, uint64_t *mask)
{
	unsigned int gpu;
	char one[8];
	size_t len;

	if (strcmp(text, "all") == 0) {
		*mask = UINT64_MAX;
		return 0;
	}
	*mask = 0;
	for (;;) {
		len = strcspn(text, ",");
		if (len == 0 || len >= sizeof(one))
			return -EINVAL;
		memcpy(one, text, len);
		one[len] = '\0';
		if (parse_unsigned(one, 0, LOAD_MAX_GPUS - 1, &gpu))
			return -EINVAL;
		*mask |= 1ULL << gpu;
		if (!text[len])
			return 0;
		text += len + 1;
	}
}

/* KFD wants a power of two; a ring is at least one page. */
static int parse_ring(const char *text, unsigned int *ring)
{
	unsigned int value;

	if (parse_unsigned(text, 64, 65536, &value) || value & (value - 1))
		return -EINVAL;
	*ring = value;
	return 0;
}

static int parse_steps(const char *text, struct load_steps *steps)
{
	char packet[32], from[32], to[32];

	if (sscanf(text, "%u,%u,%31[^,],%31[^,],%31s", &steps->n, &steps->packets, packet, from,
		   to) != 5 ||
	    load_parse_duration(packet, &steps->packet_ns) ||
	    load_parse_duration(from, &steps->from_ns) || load_parse_duration(to, &steps->to_ns) ||
	    steps->from_ns > steps->to_ns || steps->n - 1 >= 4096 || steps->packets - 1 >= 4096)
		return -EINVAL;
	return 0;
}

static int find_word(const char *text, size_t len, const char *const *names, int n, int *out)
{
	int i;

	for (i = 0; i < n; i++) {
		if (strlen(names[i]) == len && !strncmp(text, names[i], len)) {
			*out = i;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_churn(const char *text, enum load_churn_how *how)
{
	static const char *const names[] = {
		[LOAD_CHURN_EMPTY] = "empty",
		[LOAD_CHURN_BUSY] = "busy",
		[LOAD_CHURN_LIE] = "lie",
		[LOAD_CHURN_QUICK] = "quick",
	};
	int word;

	if (find_word(text, strlen(text), names, 4, &word))
		return -EINVAL;
	*how = (enum load_churn_how)word;
	return 0;
}

static int parse_attack(const char *text, struct load_args *args)
{
	static const char *const names[] = {
		[LOAD_ATTACK_EXEC] = "exec",
		[LOAD_ATTACK_DRIVER] = "driver",
		[LOAD_ATTACK_NUMBER] = "number",
		[LOAD_ATTACK_MOVE] = "move",
	};
	size_t len = strcspn(text, "=");
	int word;

	if (!text[len] || find_word(text, len, names, 4, &word))
		return -EINVAL;
	args->attack = (enum load_attack)word;
	args->attack_file = text + len + 1;
	return 0;
}

static int parse_value(struct load_args *args, int opt, const char *value)
{
	switch (opt) {
	case 'g':
		return parse_gpus(value, &args->gpu_mask);
	case 'q':
		return parse_unsigned(value, 0, 1024, &args->queues);
	case 's':
		return parse_unsigned(value, 0, 1024, &args->sdma);
	case 'P':
		return parse_unsigned(value, 0, 15, &args->priority);
	case 'p':
		return load_parse_duration(value, &args->packet_ns);
	case OPT_WORKGROUPS:
		return parse_unsigned(value, 1, 1000000, &args->workgroups);
	case 'r':
		return parse_number(value, 1, 1000000, &args->rate);
	case 'n':
		return parse_number(value, 1, UINT64_MAX / 2, &args->count);
	case 'd':
		return load_parse_duration(value, &args->duration_ns);
	case OPT_EVERY:
		return load_parse_duration(value, &args->gap_ns);
	case OPT_DELAY:
		return load_parse_duration(value, &args->delay_ns);
	case OPT_SEED:
		return parse_number(value, 1, UINT64_MAX, &args->seed);
	case OPT_BURST:
		return parse_unsigned(value, 1, 4096, &args->burst);
	case OPT_STEPS:
		return parse_steps(value, &args->steps);
	case OPT_SAMPLES:
		args->samples = value;
		return 0;
	case OPT_REPORT:
		return load_parse_duration(value, &args->report_ns);
	case OPT_DRAIN:
		return load_parse_duration(value, &args->drain_ns);
	case OPT_RING:
		return parse_ring(value, &args->ring);
	case OPT_DEPTH:
		return parse_unsigned(value, 1, 65536, &args->depth);
	case OPT_CHURN:
		return load_parse_duration(value, &args->churn_ns);
	case OPT_CHURN_HOW:
		return parse_churn(value, &args->churn_how);
	case OPT_CROWD:
		return parse_unsigned(value, 1, 500000, &args->crowd);
	case OPT_ATTACK:
		return parse_attack(value, args);
	case OPT_BARRIER:
		return parse_unsigned(value, 1, 65536, &args->barrier);
	default:
		return -EINVAL;
	}
}

static int parse_flag(struct load_args *args, int opt)
{
	switch (opt) {
	case OPT_PER_QUEUE:
		args->per_queue = true;
		return 0;
	case OPT_LEAVE:
		args->leave = true;
		return 0;
	case OPT_NO_RUNTIME:
		args->no_runtime = true;
		return 0;
	case OPT_ACQUIRE_USED:
		args->acquire_used = true;
		return 0;
	case OPT_ONLINE:
		args->online = true;
		return 0;
	case OPT_KICK:
		args->kick = true;
		return 0;
	case OPT_SDMA_WORK:
		args->sdma_work = true;
		return 0;
	case 'h':
		args->help = true;
		return 0;
	default:
		return -EINVAL;
	}
}

/* Keep 200 ms of work in flight: longer than this process is ever off its CPU. */
static unsigned int choose_depth(const struct load_args *args)
{
	uint64_t depth = args->packet_ns ? 200000000 / args->packet_ns : args->ring;

	if (depth < 4)
		depth = 4;
	return depth < args->ring ? (unsigned int)depth : args->ring;
}

static int finish_args(struct load_args *args, char *err, size_t err_size)
{
	if (!args->depth)
		args->depth = args->gap_ns ? args->ring : choose_depth(args);
	if (args->depth > args->ring) {
		snprintf(err, err_size, "--depth %u does not fit in a ring of %u packets",
			 args->depth, args->ring);
		return -EINVAL;
	}
	if (args->burst > args->depth || (args->rate && args->gap_ns)) {
		snprintf(err, err_size,
			 args->rate ? "--rate and --every exclude each other" :
				      "--burst %u is more than may be in flight",
			 args->burst);
		return -EINVAL;
	}
	if (args->steps.packets > args->depth || (args->steps.n && !args->gap_ns)) {
		snprintf(err, err_size, "--steps need --every, and room for a step in flight");
		return -EINVAL;
	}
	if (args->online && !args->steps.n) {
		snprintf(err, err_size, "--online needs --steps");
		return -EINVAL;
	}
	if (!args->queues && !args->sdma) {
		snprintf(err, err_size, "no queues asked for");
		return -EINVAL;
	}
	return 0;
}

int load_args_parse(struct load_args *args, int argc, char **argv, char *err, size_t err_size)
{
	int opt, index, ret;

	*args = (struct load_args){
		.gpu_mask = 1,
		.queues = 1,
		.priority = 7,
		.packet_ns = 1000000,
		.report_ns = 100000000,
		.drain_ns = 10000000000ULL,
		.ring = 1024,
		.seed = 1,
		.burst = 1,
	};
	opterr = 0;
	optind = 0;
	for (;;) {
		index = -1;
		opt = getopt_long(argc, argv, ":g:q:s:P:p:r:n:d:h", options, &index);
		if (opt < 0)
			break;
		if (opt == '?' || opt == ':') {
			snprintf(err, err_size,
				 opt == ':' ? "'%s' needs a value" : "unknown option '%s'",
				 argv[optind - 1]);
			return -EINVAL;
		}
		ret = optarg ? parse_value(args, opt, optarg) : parse_flag(args, opt);
		if (ret) {
			snprintf(err, err_size, "bad value '%s' for %s", optarg,
				 index >= 0 ? options[index].name : "an option");
			return ret;
		}
	}
	if (optind < argc) {
		snprintf(err, err_size, "unexpected argument '%s'", argv[optind]);
		return -EINVAL;
	}
	return finish_args(args, err, err_size);
}
