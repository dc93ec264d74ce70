// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks of doctor: the driver and its GPUs. */
#include <stdio.h>
#include <string.h>

#include "lib/preempt/pause.h"
#include "lib/preempt/session.h"
#include "lib/see/see.h"
#include "doctor.h"

/* Checks of the kernel, its driver and the GPUs. */

/* Bits of a node's capability (include/uapi/linux/kfd_sysfs.h). */
#define CAP_TRAP_DEBUG_FIRMWARE 0x20000000

/* Minor versions of KFD's interface 1 that brought AMDKFD_IOC_CRIU_OP, _DBG_TRAP. */
#define PAUSE_MINOR 7
#define DEBUG_MINOR 13

/* Report the kernel's release. Distributions change kernels: other checks ask for features. */
static void check_kernel(struct gpreempt *g, struct gp_finding *f)
{
	char release[64], dkms[64];

	if (gp_read_small(g, release, sizeof(release), "/proc/sys/kernel/osrelease") < 0) {
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "", "the kernel's release cannot be read");
		return;
	}
	release[strcspn(release, "\n")] = '\0';
	/* The kernel's own module has no version. */
	if (gp_read_small(g, dkms, sizeof(dkms), GP_AMDGPU "/version") < 0)
		gp_find(f, "%s", release);
	else
		gp_find(f, "%s with amdgpu-dkms %.*s", release, (int)strcspn(dkms, "\n"), dkms);
}

static void check_amdgpu(struct gpreempt *g, struct gp_finding *f)
{
	int ret = gp_look_in(g, GP_AMDGPU);

	if (ret == -ENOENT)
		gp_find_failed(f, GPREEMPT_CLASS_UNSUPPORTED, "modprobe amdgpu",
			       "amdgpu is not loaded");
	else if (ret < 0)
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "", "whether amdgpu is loaded cannot be read: %s",
			    strerror(-ret));
	else
		gp_find(f, "amdgpu is loaded");
}

/* Answer of a GPU to a question. */
enum answer {
	NO,
	YES,
	SILENT, /* the GPU does not answer it */
};

/* Names of the GPUs with one answer. */
struct names {
	char text[96];
	size_t count;
	size_t all; /* 0: there are none at all */
	size_t silent;
};

static void add_name(struct names *names, int64_t gpu_id)
{
	size_t used = strlen(names->text);

	names->count++;
	snprintf(names->text + used, sizeof(names->text) - used, "%s0x%llx", used ? " " : "",
		 (unsigned long long)gpu_id);
}

typedef enum answer ask_fn(struct gpreempt *g, const struct gpreempt_node *node);

/* Ask all GPUs. There are none if they cannot be listed. */
static struct names ask_gpus(struct gpreempt *g, ask_fn *ask)
{
	struct names names = { .count = 0 };
	__cleanup_list struct gpreempt_nodes *nodes = NULL;
	size_t i;

	if (gpreempt_nodes_read(g, &nodes, NULL))
		return names;
	names.all = nodes->count;
	for (i = 0; i < nodes->count; i++) {
		enum answer answer = ask(g, &nodes->nodes[i]);

		if (answer == YES)
			add_name(&names, nodes->nodes[i].gpu_id);
		names.silent += answer == SILENT;
	}
	return names;
}

/* Report that all is well, but only if each GPU has answered. */
static void find_well(struct gp_finding *f, const struct names *names, const char *text)
{
	if (!names->all)
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "", "there is no GPU that could be asked");
	else if (names->silent)
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "", "%zu of %zu GPUs do not tell", names->silent,
			    names->all);
	else
		gp_find(f, "%s", text);
}

/* List all GPUs by their names, in the order of their indexes on most hosts. */
static void check_gpus(struct gpreempt *g, struct gp_finding *f)
{
	struct gpreempt_error err = { 0 };
	char text[512] = "", *at = text;
	struct gp_gpus gpus;
	size_t i;

	if (gp_gpus_read(g, &gpus, &err) && err.reason != GPREEMPT_NO_KFD) {
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "", "KFD's GPUs cannot be read: %s",
			    strerror(-err.code));
		return;
	}
	for (i = 0; i < gpus.count && at + 96 < text + sizeof(text); i++) {
		at += sprintf(at, i ? ", " : "");
		at += gp_gpu_text(&gpus.items[i], at, 90);
	}
	if (gpus.count)
		gp_find(f, "%zu: %s", gpus.count, text);
	else
		gp_find_failed(f, GPREEMPT_CLASS_UNSUPPORTED, "look for amdgpu and kfd in dmesg",
			       "KFD has no GPU");
	gp_gpus_free(&gpus);
}

/* Does the node lack that bit of its capability? */
static enum answer lacks_bit(struct gpreempt *g, const struct gpreempt_node *node, uint64_t bit)
{
	uint64_t value;
	char number[24];

	snprintf(number, sizeof(number), "%lld", (long long)node->node);
	if (gp_node_property(g, number, "capability", &value))
		return SILENT;
	return value & bit ? NO : YES;
}

static enum answer no_trap(struct gpreempt *g, const struct gpreempt_node *node)
{
	return lacks_bit(g, node, GP_CAP_TRAP_DEBUG);
}

/* A snapshot has no answer of /dev/kfd, but its GPUs show whether there was a debug trap. */
static void check_saved_kfd(struct gpreempt *g, struct gp_finding *f)
{
	struct names names = ask_gpus(g, no_trap);

	if (names.all && names.count == names.all)
		gp_find_bad(f, GP_HEALTH_WARNING,
			    "whole processes can be paused; for more use "
			    "kernel 6.5 or newer, or amdgpu-dkms",
			    "the driver or its GPUs have no debug trap");
	else
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "", "what /dev/kfd answers is not in a snapshot");
}

static void check_kfd(struct gpreempt *g, struct gp_finding *f)
{
	struct gp_kfd k = { .g = g };
	unsigned int major, minor;
	int ret;

	if (g->saved) {
		check_saved_kfd(g, f);
		return;
	}
	k.fd = g->ops->open_kfd(g->be);
	if (k.fd == -EACCES || k.fd == -EPERM) {
		gp_find_failed(f, GPREEMPT_CLASS_PERMISSION, "run it with sudo",
			       "/dev/kfd cannot be opened");
		return;
	}
	if (k.fd < 0) {
		gp_find_failed(f, GPREEMPT_CLASS_UNSUPPORTED,
			       "this takes an AMD GPU and its driver: modprobe amdgpu",
			       "/dev/kfd cannot be opened: %s", strerror(-k.fd));
		return;
	}
	ret = gp_kfd_version(&k, &major, &minor);
	close(k.fd);
	if (ret)
		gp_find_failed(f, GPREEMPT_CLASS_UNSUPPORTED, "look at the last lines of dmesg",
			       "/dev/kfd does not tell its version: %s", strerror(-ret));
	else if (major == 1 && minor >= PAUSE_MINOR && minor < DEBUG_MINOR)
		gp_find_bad(f, GP_HEALTH_WARNING,
			    "whole processes can be paused; for more use "
			    "kernel 6.5 or newer, or amdgpu-dkms",
			    "the driver's interface is %u.%u: it has no debug "
			    "trap, which came with 1.13",
			    major, minor);
	else if (major != 1 || minor < PAUSE_MINOR)
		gp_find_failed(f, GPREEMPT_CLASS_UNSUPPORTED,
			       "use kernel 6.5 or newer, or amdgpu-dkms",
			       "the driver's interface is %u.%u; 1.13 to 1.x "
			       "is needed: older ones have no debug trap",
			       major, minor);
	else
		gp_find(f, "the driver's interface is %u.%u", major, minor);
}

static void check_trap(struct gpreempt *g, struct gp_finding *f)
{
	struct names names = ask_gpus(g, no_trap);

	if (!names.count)
		find_well(f, &names, "the GPUs have a debug trap");
	else if (names.count < names.all)
		gp_find_bad(f, GP_HEALTH_WARNING, "processes that use them cannot be suspended",
			    "no debug trap on GPU %s", names.text);
	else
		gp_find_failed(f, GPREEMPT_CLASS_UNSUPPORTED, "GPUs from gfx9 (Vega) on have it",
			       "no debug trap on GPU %s", names.text);
}

/* Ask all GPUs. bad: "%s", the finding with the names of the GPUs for which the answer is yes. */
static void check_each(struct gpreempt *g, struct gp_finding *f, ask_fn *ask, const char *well,
		       enum gp_health health, const char *next, const char *bad)
{
	struct names names = ask_gpus(g, ask);

	if (names.count)
		gp_find_bad(f, health, next, bad, names.text);
	else
		find_well(f, &names, well);
}

static enum answer old_firmware(struct gpreempt *g, const struct gpreempt_node *node)
{
	return lacks_bit(g, node, CAP_TRAP_DEBUG_FIRMWARE);
}

static void check_firmware(struct gpreempt *g, struct gp_finding *f)
{
	check_each(g, f, old_firmware, "the firmware is fit for debugging", GP_HEALTH_WARNING,
		   "update the GPU's firmware and boot again; suspending is not safe with it",
		   "the driver calls the firmware of GPU %s too old for debugging");
}

/*
 * kfd_dbg_is_per_vmid_supported() in amdkfd/kfd_debug.h, by the version that
 * the topology has: gfx90a is 90010 there, gfx942 is 90402.
 */
static enum answer one_vmid(struct gpreempt *g, const struct gpreempt_node *node)
{
	(void)g;
	if (node->gfx == GPREEMPT_UNKNOWN)
		return SILENT;
	return node->gfx < 110000 && node->gfx != 90010 && node->gfx != 90402 &&
			       node->gfx != 90500 ?
		       YES :
		       NO;
}

static void check_vmid(struct gpreempt *g, struct gp_finding *f)
{
	check_each(g, f, one_vmid, "several processes of a GPU can be held at once",
		   GP_HEALTH_WARNING, "let one go before you hold the next",
		   "only one process at a time can be held on GPU %s");
}

/* kfd_dbg_has_cwsr_workaround() there. */
static enum answer halves(struct gpreempt *g, const struct gpreempt_node *node)
{
	(void)g;
	if (node->gfx == GPREEMPT_UNKNOWN)
		return SILENT;
	return node->gfx >= 110000 && node->gfx <= 110003 ? YES : NO;
}

static void check_workaround(struct gpreempt *g, struct gp_finding *f)
{
	check_each(g, f, halves, "being held costs a process no compute units", GP_HEALTH_NOTE,
		   "hold it for short; processes with a CU mask cannot be held",
		   "a process that is held has half the compute units of GPU %s, also while its "
		   "queues run");
}

static enum answer no_scheduler(struct gpreempt *g, const struct gpreempt_node *node)
{
	(void)g;
	if (node->scheduler == GPREEMPT_UNKNOWN)
		return SILENT;
	return node->scheduler == GP_VIEW_SCHEDULER_NONE ? YES : NO;
}

/* YES: the driver then refuses debug sessions, whatever is asked. */
static enum answer runs_unscheduled(struct gpreempt *g, struct names *names)
{
	char text[16];
	ssize_t n = gp_read_small(g, text, sizeof(text), GP_AMDGPU "/parameters/sched_policy");

	*names = ask_gpus(g, no_scheduler);
	if (names->count || (n > 0 && *text == '2'))
		return YES;
	/* The parameter speaks for all GPUs if there is no gpreempt.ko. */
	if (n > 0)
		names->silent = 0;
	return names->all && !names->silent ? NO : SILENT;
}

static void check_scheduler(struct gpreempt *g, struct gp_finding *f)
{
	struct names names;

	if (runs_unscheduled(g, &names) == YES)
		gp_find_failed(f, GPREEMPT_CLASS_UNSUPPORTED,
			       "do not load amdgpu with sched_policy=2",
			       "the driver runs without the hardware scheduler, "
			       "and then refuses debug sessions");
	else
		find_well(f, &names, "a hardware scheduler runs the queues");
}

static void check_cwsr(struct gpreempt *g, struct gp_finding *f)
{
	char text[16];

	if (gp_read_small(g, text, sizeof(text), GP_AMDGPU "/parameters/cwsr_enable") < 0)
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "", "amdgpu does not tell whether it uses CWSR");
	else if (*text == '0')
		gp_find_failed(f, GPREEMPT_CLASS_UNSUPPORTED,
			       "load amdgpu with cwsr_enable=1, its default; 0, which some set "
			       "against hangs of MES on gfx11, leaves no safe suspend",
			       "CWSR is off: work cannot be saved; suspend and pause wait until "
			       "kernels end, and a long one hangs the GPU");
	else
		gp_find(f, "CWSR is on: work is saved when it is preempted");
}

/*
 * Drivers differ in whether every process may end a session, and distributions
 * have the change in old releases, too: Linux 7.2, Debian's 6.12.117.
 */
static void check_sessions(struct gpreempt *g, struct gp_finding *f)
{
	struct names names;
	int ret = runs_unscheduled(g, &names) == YES ? -ENOTSUP : g->ops->ask_disable(g->be);

	switch (ret) {
	case -EPERM:
		gp_find(f, "only a process with the right can end a debug session");
		break;
	case -EINVAL:
		gp_find_bad(f, GP_HEALTH_NOTE, "it is noticed, and queues are suspended again",
			    "this driver lets any process that may open /dev/kfd "
			    "end a debug session");
		break;
	case -EBUSY:
		gp_find_bad(f, GP_HEALTH_WARNING,
			    "end the profiler, such as rocprofv3 with PC sampling",
			    "the driver profiles a process, and refuses debug sessions meanwhile");
		break;
	default:
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "",
			    "who may end a debug session cannot be asked");
	}
}

static void check_pauses(struct gpreempt *g, struct gp_finding *f)
{
	int ret = gp_pause_counts(g);

	if (ret < 0)
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "",
			    "whether the driver counts pauses cannot be asked: that "
			    "takes gpreempt.ko, and the host itself");
	else if (ret)
		gp_find_bad(f, GP_HEALTH_NOTE,
			    "do not dump a process by CRIU while it is paused, "
			    "unless with gpreempt's plug-in for it",
			    "this driver counts pauses: one by another program during ours keeps a "
			    "process off the GPU until it ends");
	else
		gp_find(f, "one unpause undoes the pauses of two programs");
}

const struct gp_doctor_check gp_driver_checks[] = {
	{ .name = "kernel", .run = check_kernel },
	{ .name = "amdgpu", .run = check_amdgpu },
	{ .name = "kfd", .run = check_kfd, .decides = true },
	{ .name = "gpus", .run = check_gpus },
	{ .name = "debug-trap", .run = check_trap, .debug = true },
	{ .name = "firmware", .run = check_firmware, .debug = true },
	{ .name = "debug-vmid", .run = check_vmid, .debug = true },
	{ .name = "compute-units", .run = check_workaround, .debug = true },
	{ .name = "scheduler", .run = check_scheduler },
	{ .name = "cwsr", .run = check_cwsr },
	{ .name = "sessions", .run = check_sessions, .debug = true },
	{ .name = "pauses", .run = check_pauses, .debug = true },
	{ 0 },
};
