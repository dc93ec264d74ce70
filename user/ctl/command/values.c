// SPDX-License-Identifier: GPL-2.0-only
/* Values of options: a function for each kind. */
#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/command/ctl.h"
#include "guard/options.h"
#include "lib/select/words.h"
#include "proto/hold.h"
#include "shared/macro.h"
#include "shared/parse.h"

#define MAX_COUNT    10000000
#define MAX_QUEUE_ID 1023 /* the driver's */
#define MAX_PRIORITY 15

static const char *take_flag(const char *text, void *field)
{
	(void)text;
	*(uint64_t *)field = 1;
	return NULL;
}

static const char *take_count(const char *text, void *field)
{
	uint64_t *number = field;
	int ret = shr_parse_u64(text, MAX_COUNT, number);

	return ret || !*number ? "a number from 1 to 10000000 is needed" : NULL;
}

static const char *take_duration(const char *text, void *field)
{
	int ret = shr_parse_duration(text, field);

	return ret ? shr_duration_error(ret) : NULL;
}

static const char *take_lease(const char *text, void *field)
{
	const char *why = take_duration(text, field);

	return why ? why : !*(uint64_t *)field ? "a lease of no time makes no sense" : NULL;
}

static const char *take_ids(const char *text, void *field)
{
	struct gpreempt_filter *which = field;
	uint32_t *ids = NULL;
	int ret = shr_parse_list(text, MAX_QUEUE_ID, &ids, &which->n_ids);

	free((void *)which->ids);
	which->ids = ids;
	switch (ret) {
	case 0:
		return NULL;
	case -EEXIST:
		return "a queue id is in it twice";
	case -ERANGE:
		return "queue ids go from 0 to 1023";
	default:
		return "queue ids are numbers with commas between, as in 0,2";
	}
}

/*
 * "<=5", "<5", ">=3", ">3", "=3", "3", "3-7". 0, -EINVAL, or -ERANGE when no
 * priority is like that.
 */
static int parse_priority(const char *text, struct gpreempt_filter *which)
{
	size_t sign = strspn(text, "<>=");
	uint64_t first, last;
	char number[8], *dash;

	snprintf(number, sizeof(number), "%.7s", text + sign);
	dash = sign ? NULL : strchr(number, '-');
	if (dash)
		*dash++ = '\0';
	if (shr_parse_u64(number, MAX_PRIORITY, &first) ||
	    shr_parse_u64(dash ? dash : number, MAX_PRIORITY, &last) || first > last ||
	    strlen(text + sign) >= sizeof(number))
		return -EINVAL;
	if (sign > 2 || (sign == 2 && (text[1] != '=' || *text == '=')))
		return -EINVAL;
	if (*text == '<') {
		first = 0;
		last -= text[1] != '=';
	} else if (*text == '>') {
		first += text[1] != '=';
		last = MAX_PRIORITY;
	}
	which->by_priority = true;
	which->priority_min = first;
	which->priority_max = last;
	return last == UINT64_MAX || first > last ? -ERANGE : 0;
}

static const char *take_priority(const char *text, void *field)
{
	int ret = parse_priority(text, field);

	return !ret	      ? NULL :
	       ret == -ERANGE ? "no priority is like that; they go from 0 to 15" :
				"a priority is from 0 to 15, as in 7, '<=5', 3-7";
}

/* Hexadecimal, as everything prints them. */
static const char *take_gpus(const char *text, void *field)
{
	uint32_t *gpus = calloc(HOLD_MAX_GPUS, sizeof(*gpus));
	struct gpreempt_filter *which = field;
	char *end;

	free((void *)which->gpu_ids);
	which->gpu_ids = gpus;
	which->n_gpu_ids = 0;
	for (; gpus && which->n_gpu_ids < HOLD_MAX_GPUS; text = end + 1) {
		unsigned long gpu = strtoul(text, &end, 16);

		if (!isxdigit((unsigned char)*text) || !gpu || gpu > UINT32_MAX ||
		    (*end && *end != ','))
			break;
		/* A packet has no number twice. */
		if (!shr_has(gpus, which->n_gpu_ids, gpu))
			gpus[which->n_gpu_ids++] = gpu;
		if (!*end)
			return NULL;
	}
	return "GPUs are gpu_ids with commas between, as in f7bc; "
	       "gpreempt-ctl queues shows them";
}

static const char *take_file(const char *text, void *field)
{
	*(const char **)field = text;
	return *text ? NULL : "the name of a file is needed";
}

static const char *take_name(const char *text, void *field)
{
	*(const char **)field = text;
	return *text ? NULL : "a name is needed";
}

/* A part of something: 30 or 30%. */
static const char *take_percent(const char *text, void *field)
{
	size_t len = strlen(text);
	char number[8];

	if (len && text[len - 1] == '%')
		len--;
	snprintf(number, sizeof(number), "%.*s", (int)len, text);
	return len < sizeof(number) && !shr_parse_u64(number, 99, field) ?
		       NULL :
		       "a percentage from 0 to 99 is needed, as in 30%";
}

static const char *take_cpu(const char *text, void *field)
{
	uint64_t *number = field;
	int ret = shr_parse_u64(text, CPU_SETSIZE - 1, number);

	*number += !ret;
	return ret ? "the number of a CPU is needed, from 0" : NULL;
}

static const char *take_uids(const char *text, void *field)
{
	struct shr_ids *uids = field;

	free(uids->id);
	*uids = (struct shr_ids){ 0 };
	return !shr_parse_list(text, UINT32_MAX - 1, &uids->id, &uids->n) ?
		       NULL :
		       "user ids are numbers with commas between, as in 1000,1001";
}

static const char *take_role(const char *text, void *field)
{
	struct guard_words *words = field;
	struct gpreempt_error err;

	if (words->n == ARRAY_SIZE(words->word) || gp_select_check(text, &err))
		return "a target is needed, such as a PID or comm:NAME";
	words->word[words->n++] = text;
	return NULL;
}

static const char *take_how(const char *text, void *field)
{
	static const char *const hows[GPREEMPT_HOWS] = {
		[GPREEMPT_HOW_AUTO] = "auto",
		[GPREEMPT_HOW_DEBUG] = "debug",
		[GPREEMPT_HOW_PAUSE] = "pause",
	};
	size_t i;

	for (i = 0; i < GPREEMPT_HOWS; i++) {
		if (strcmp(text, hows[i]))
			continue;
		*(enum gpreempt_how *)field = i;
		return NULL;
	}
	return "it is auto, debug or pause";
}

static const char *take_json(const char *text, void *field)
{
	(void)text;
	*(enum out_mode *)field = OUT_JSON;
	return NULL;
}

/* --json wins over --csv. */
static const char *take_csv(const char *text, void *field)
{
	enum out_mode *mode = field;

	(void)text;
	if (*mode != OUT_JSON)
		*mode = OUT_CSV;
	return NULL;
}

static const char *(*const take_value[CTL_KINDS])(const char *text, void *field) = {
	[CTL_FLAG] = take_flag,	      [CTL_COUNT] = take_count, [CTL_DURATION] = take_duration,
	[CTL_LEASE] = take_lease,     [CTL_IDS] = take_ids,	[CTL_PRIORITY] = take_priority,
	[CTL_GPUS] = take_gpus,	      [CTL_FILE] = take_file,	[CTL_NAME] = take_name,
	[CTL_PERCENT] = take_percent, [CTL_CPU] = take_cpu,	[CTL_ROLE] = take_role,
	[CTL_UIDS] = take_uids,	      [CTL_HOW] = take_how,	[CTL_JSON] = take_json,
	[CTL_CSV] = take_csv,
};

const char *ctl_take_value(const struct ctl_option *o, const char *text, void *args)
{
	return take_value[o->kind](text, (char *)args + o->offset);
}

/* Before the first option: what depends on where stdout goes. */
static void init_value(const struct ctl_option *o, void *args)
{
	if (o->kind == CTL_JSON)
		*(enum out_mode *)((char *)args + o->offset) = out_mode();
}

static void free_value(const struct ctl_option *o, void *args)
{
	void *field = (char *)args + o->offset;

	if (o->kind == CTL_IDS)
		free((void *)((struct gpreempt_filter *)field)->ids);
	else if (o->kind == CTL_GPUS)
		free((void *)((struct gpreempt_filter *)field)->gpu_ids);
	else if (o->kind == CTL_UIDS)
		free(((struct shr_ids *)field)->id);
}

void *ctl_new_args(const struct ctl_command *cmd)
{
	void *args = calloc(1, cmd->args_size + 1);
	const struct ctl_option *o;

	if (args && cmd->defaults)
		memcpy(args, cmd->defaults, cmd->args_size);
	ctl_for_each_option(o, cmd)
		if (args)
			init_value(o, args);
	return args;
}

void ctl_free_args(const struct ctl_command *cmd, void *args)
{
	const struct ctl_option *o;

	ctl_for_each_option(o, cmd)
		if (args)
			free_value(o, args);
	free(args);
}
