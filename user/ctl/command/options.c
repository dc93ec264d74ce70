// SPDX-License-Identifier: GPL-2.0-only
/* The options that several commands have, and what a target can be. */
#include "ctl/command/ctl.h"
#include "shared/macro.h"

const char ctl_targets_help[] =
	"TARGET is one of\n"
	"  PID                    a process, as the host counts\n"
	"  cgroup:PATH            all in a cgroup and below it\n"
	"  user:NAME-OR-UID       all whose real user that is\n"
	"  container:NAME-OR-ID   all in a container; 12 characters of its id do\n"
	"  comm:NAME              all processes of that name\n"
	"  cmd:PATTERN            all whose command line matches, as pgrep -f\n"
	"A process chooses its own name and command line, and a user the names and\n"
	"ids of containers of its own. Where that matters, use cgroup: or user:.\n"
	"Only GPU processes count, and never those of gpreempt-ctl itself.\n";

static const struct ctl_option queue_options[] = {
	{ "queues", CTL_IDS, 0, "LIST",
	  "only these queue ids (0,2)" },
	{ "priority", CTL_PRIORITY, 0, "RANGE",
	  "only queues of that priority ('<=5', '>3', 7, 3-7)" },
	{ "gpu", CTL_GPUS, 0, "LIST",
	  "only queues on these GPUs (f7bc: the gpu_id)" },
	{ 0 },
};

static const struct ctl_option wait_options[] = {
	{ "wait", CTL_DURATION, offsetof(struct ctl_args, wait_ns), "TIME",
	  "wait up to that long for the targets and their queues (30s)" },
	{ 0 },
};

static const struct ctl_option json_options[] = {
	{ "json", CTL_FLAG, offsetof(struct ctl_args, json), NULL,
	  "print one JSON object" },
	{ 0 },
};

static const struct ctl_option replay_options[] = {
	{ "record", CTL_FILE, offsetof(struct ctl_args, record), "FILE",
	  "write the system's answers to a file" },
	{ "replay", CTL_FILE, offsetof(struct ctl_args, replay), "FILE",
	  "take the answers from that file, not from the system" },
	{ 0 },
};

/* In the order of the bits. */
static const struct ctl_option *const shared[CTL_SHARED_COUNT] = {
	queue_options,
	wait_options,
	json_options,
	replay_options,
};

const struct ctl_option *ctl_option_at(const struct ctl_command *cmd, size_t n)
{
	const struct ctl_option *o;
	size_t i;

	for (o = cmd->options; o && o->name; o++)
		if (!n--)
			return o;
	for (i = 0; i < ARRAY_SIZE(shared); i++)
		for (o = shared[i]; cmd->shared & (1U << i) && o->name; o++)
			if (!n--)
				return o;
	return NULL;
}
