// SPDX-License-Identifier: GPL-2.0-only
/* The command line of hsa-load. */
#include "args.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char rocm_usage[] =
	"usage: hsa-load [options]\n"
	"A ROCr program that submits dispatches of a known length, copies data by SDMA\n"
	"and checks that each dispatch ran exactly once.\n"
	"\n"
	"  -g, --gpus N|all     the first N GPUs (default 1)\n"
	"  -q, --queues N       on each GPU (default 1); ROCr adds its own\n"
	"  -p, --packet DUR     GPU time of a dispatch (default 1ms)\n"
	"  -n, --count N        stop after N dispatches a queue\n"
	"  -d, --duration DUR   stop after this time\n"
	"      --copy BYTES     copy so much to each GPU and back, again and again\n"
	"      --copy-after DUR the first copy so long after the start\n"
	"      --copy-on-usr1   the first copy after SIGUSR1\n"
	"      --depth N        dispatches in flight a queue (default: 200 ms of work)\n"
	"      --ring N         packets that a queue holds, a power of two (default 1024)\n"
	"      --poll           wait by polling (default: sleep until the interrupt)\n"
	"      --forever        wait without a limit (default: 20 ms, then look around)\n"
	"      --report DUR     between progress lines (default 100ms, 0: none)\n"
	"      --drain DUR      wait for the last dispatches (default 10s)\n"
	"      --wait DUR       before hsa_init\n"
	"      --leave          exit without destroying anything\n"
	"  -h, --help\n"
	"\n"
	"DUR: a number with ns, us, ms or s.\n"
	"SIGTERM, SIGINT: stop submitting, wait, shut down, print the result.\n"
	"SIGUSR1: counted. SIGUSR2: one more queue on each GPU.\n"
	"Exit status: 0 each dispatch ran exactly once and all copied data was right;\n"
	"1 not so, or failed; 2 usage; 3 ended before the last dispatches were done.\n";

enum { KIND_FLAG, KIND_NUMBER, KIND_DURATION, KIND_GPUS };

struct option_type {
	const char *name;
	int letter;
	int kind;
	size_t offset; /* in struct rocm_args */
};

#define AT(field) offsetof(struct rocm_args, field)

static const struct option_type types[] = {
	/* clang-format off */
	{ "gpus",	'g', KIND_GPUS,		AT(gpus) },
	{ "queues",	'q', KIND_NUMBER,	AT(queues) },
	{ "packet",	'p', KIND_DURATION,	AT(packet_ns) },
	{ "count",	'n', KIND_NUMBER,	AT(count) },
	{ "duration",	'd', KIND_DURATION,	AT(duration_ns) },
	{ "copy",	0,   KIND_NUMBER,	AT(copy) },
	{ "copy-after",	0,   KIND_DURATION,	AT(copy_after_ns) },
	{ "copy-on-usr1", 0, KIND_FLAG,		AT(copy_on_usr1) },
	{ "depth",	0,   KIND_NUMBER,	AT(depth) },
	{ "ring",	0,   KIND_NUMBER,	AT(ring) },
	{ "report",	0,   KIND_DURATION,	AT(report_ns) },
	{ "drain",	0,   KIND_DURATION,	AT(drain_ns) },
	{ "wait",	0,   KIND_DURATION,	AT(wait_ns) },
	{ "poll",	0,   KIND_FLAG,		AT(poll) },
	{ "forever",	0,   KIND_FLAG,		AT(forever) },
	{ "leave",	0,   KIND_FLAG,		AT(leave) },
	{ "help",	'h', KIND_FLAG,		AT(help) },
	/* clang-format on */
};

#define TYPES	   (sizeof(types) / sizeof(types[0]))
#define VALUE_BASE 0x100 /* getopt's value of an option without a letter */

static int parse_number(const char *text, uint64_t *value)
{
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return -EINVAL;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return errno || *end ? -EINVAL : 0;
}

static int parse_duration(const char *text, uint64_t *ns)
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

static int set(struct rocm_args *args, const struct option_type *type, const char *text)
{
	void *field = (char *)args + type->offset;

	switch (type->kind) {
	case KIND_FLAG:
		*(bool *)field = true;
		return 0;
	case KIND_DURATION:
		return parse_duration(text, field);
	case KIND_GPUS:
		if (strcmp(text, "all") == 0) {
			*(uint64_t *)field = UINT64_MAX;
			return 0;
		}
		return parse_number(text, field);
	default:
		return parse_number(text, field);
	}
}

static void make_options(struct option *options, char *letters)
{
	size_t i;

	*letters++ = ':';
	for (i = 0; i < TYPES; i++) {
		options[i] = (struct option){
			.name = types[i].name,
			.has_arg = types[i].kind == KIND_FLAG ? no_argument : required_argument,
			.val = types[i].letter ? types[i].letter : VALUE_BASE + (int)i,
		};
		if (types[i].letter)
			*letters++ = (char)types[i].letter;
		if (types[i].letter && types[i].kind != KIND_FLAG)
			*letters++ = ':';
	}
	options[TYPES] = (struct option){};
	*letters = '\0';
}

static const struct option_type *type_of(int opt)
{
	size_t i;

	if (opt >= VALUE_BASE)
		return &types[opt - VALUE_BASE];
	for (i = 0; i < TYPES; i++)
		if (types[i].letter == opt)
			return &types[i];
	return NULL;
}

/* 200 ms of work in flight: longer than this process is ever off its CPU. */
static int finish(struct rocm_args *args, char *err, size_t size)
{
	if (args->ring < 64 || args->ring > 16384 || args->ring & (args->ring - 1)) {
		snprintf(err, size, "--ring must be a power of two from 64 to 16384");
		return -EINVAL;
	}
	if (!args->depth) {
		args->depth = args->packet_ns ? 200000000 / args->packet_ns : args->ring;
		if (args->depth < 4)
			args->depth = 4;
	}
	if (args->depth > args->ring)
		args->depth = args->ring;
	return 0;
}

int rocm_args_parse(struct rocm_args *args, int argc, char **argv, char *err, size_t size)
{
	struct option options[TYPES + 1];
	const struct option_type *type;
	char letters[2 * TYPES + 2];
	int opt;

	*args = (struct rocm_args){
		.gpus = 1,
		.queues = 1,
		.packet_ns = 1000000,
		.report_ns = 100000000,
		.drain_ns = 10000000000ULL,
		.ring = 1024,
	};
	make_options(options, letters);
	opterr = 0;
	while ((opt = getopt_long(argc, argv, letters, options, NULL)) >= 0) {
		type = type_of(opt);
		if (!type) {
			snprintf(err, size, "cannot take '%s'", argv[optind - 1]);
			return -EINVAL;
		}
		if (set(args, type, optarg)) {
			snprintf(err, size, "bad value '%s' of --%s", optarg, type->name);
			return -EINVAL;
		}
	}
	if (optind < argc) {
		snprintf(err, size, "unexpected argument '%s'", argv[optind]);
		return -EINVAL;
	}
	return finish(args, err, size);
}
