// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks of the kernel, its driver and the GPUs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/doctor/checks.h"
#include "lib/session/kfd.h"
#include "lib/observe/observe.h"

/* Bits of a node's capability (include/uapi/linux/kfd_sysfs.h). */
#define CAP_TRAP_DEBUG_FIRMWARE 0x20000000

/* Minor versions of KFD's interface 1 that brought AMDKFD_IOC_CRIU_OP, _DBG_TRAP. */
#define PAUSE_MINOR 7
#define DEBUG_MINOR 13

/* Only amdgpu-dkms's module has a version. */
static bool dkms_version(const struct gpreempt *g, char *text, size_t size)
{
	if (gp_read_small(g, text, size, GP_AMDGPU "/version") < 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return true;
}

/* What the kernel can do is asked elsewhere; distributions change kernels. */
static void check_kernel(struct gpreempt *g, struct gp_finding *f)
{
	char release[64], dkms[64];

	if (gp_read_small(g, release, sizeof(release),
			  "/proc/sys/kernel/osrelease") < 0) {
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "",
			    "the kernel's release cannot be read");
		return;
	}
	release[strcspn(release, "\n")] = '\0';
	if (dkms_version(g, dkms, sizeof(dkms)))
		gp_find(f, "%s with amdgpu-dkms %s", release, dkms);
	else
		gp_find(f, "%s", release);
}

static void check_amdgpu(struct gpreempt *g, struct gp_finding *f)
{
	if (gp_look_in(g, GP_AMDGPU) == -ENOENT)
		gp_find_failed(f, GPREEMPT_CLASS_UNSUPPORTED, "modprobe amdgpu",
			       "amdgpu is not loaded");
	else
		gp_find(f, "amdgpu is loaded");
}

static void check_kfd(struct gpreempt *g, struct gp_finding *f)
{
	struct gp_kfd k = { .g = g };
	unsigned int major, minor;
	int ret;

	if (g->saved) {
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "",
			    "what /dev/kfd answers is not in a snapshot");
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
			       "this takes an AMD GPU and its driver: modprobe "
			       "amdgpu",
			       "/dev/kfd cannot be opened: %s",
			       strerror(-k.fd));
		return;
	}
	ret = gp_kfd_version(&k, &major, &minor);
	close(k.fd);
	if (ret)
		gp_find_failed(f, GPREEMPT_CLASS_UNSUPPORTED,
			       "look at the last lines of dmesg",
			       "/dev/kfd does not tell its version: %s",
			       strerror(-ret));
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

/* Names of GPUs for which something is so. */
struct names {
	char text[96];
	size_t count;
	size_t all; /* 0: there are none at all */
};

static void find_nodes(struct gpreempt *g, struct names *names,
		       bool (*test)(struct gpreempt *g,
				    const struct gpreempt_node *node))
{
	struct gpreempt_nodes *nodes;
	size_t i, used = 0;

	*names = (struct names){ 0 };
	if (gpreempt_nodes_read(g, &nodes, NULL))
		return;
	names->all = nodes->count;
	for (i = 0; i < nodes->count; i++) {
		const struct gpreempt_node *node = &nodes->nodes[i];

		if (test && !test(g, node))
			continue;
		names->count++;
		snprintf(names->text + used, sizeof(names->text) - used,
			 "%s0x%llx", used ? " " : "",
			 (unsigned long long)node->gpu_id);
		used = strlen(names->text);
	}
	gpreempt_nodes_free(nodes);
}

static void check_gpus(struct gpreempt *g, struct gp_finding *f)
{
	struct names names;

	find_nodes(g, &names, NULL);
	if (names.all)
		gp_find(f, "%zu: %s", names.all, names.text);
	else
		gp_find_failed(f, GPREEMPT_CLASS_UNSUPPORTED,
			       "look for amdgpu and kfd in dmesg",
			       "KFD has no GPU");
}

static uint64_t capability(struct gpreempt *g, const struct gpreempt_node *node)
{
	uint64_t value = 0;
	char number[24];

	snprintf(number, sizeof(number), "%lld", (long long)node->node);
	if (gp_node_property(g, number, "capability", &value))
		return ~0ULL; /* unknown: assume that it can */
	return value;
}

static bool no_trap(struct gpreempt *g, const struct gpreempt_node *node)
{
	return !(capability(g, node) & GP_CAP_TRAP_DEBUG);
}

static void check_trap(struct gpreempt *g, struct gp_finding *f)
{
	struct names names;

	find_nodes(g, &names, no_trap);
	if (!names.count)
		gp_find(f, "the GPUs have a debug trap");
	else if (names.count < names.all)
		gp_find_bad(f, GP_HEALTH_WARNING,
			    "processes that use them cannot be suspended",
			    "no debug trap on GPU %s", names.text);
	else
		gp_find_failed(f, GPREEMPT_CLASS_UNSUPPORTED,
			       "GPUs from gfx9 (Vega) on have it",
			       "no debug trap on GPU %s", names.text);
}

static bool old_firmware(struct gpreempt *g, const struct gpreempt_node *node)
{
	return !(capability(g, node) & CAP_TRAP_DEBUG_FIRMWARE);
}

static void check_firmware(struct gpreempt *g, struct gp_finding *f)
{
	struct names names;

	find_nodes(g, &names, old_firmware);
	if (!names.count)
		gp_find(f, "the firmware is fit for debugging");
	else
		gp_find_bad(f, GP_HEALTH_WARNING,
			    "update the GPU's firmware and boot again; "
			    "suspending is not safe with it",
			    "the driver calls the firmware of GPU %s too old "
			    "for debugging",
			    names.text);
}

/*
 * kfd_dbg_is_per_vmid_supported() in amdkfd/kfd_debug.h, by the version that
 * the topology has: gfx90a is 90010 there, gfx942 is 90402.
 */
static bool one_vmid(struct gpreempt *g, const struct gpreempt_node *node)
{
	(void)g;
	return node->gfx != GPREEMPT_UNKNOWN && node->gfx < 110000 &&
	       node->gfx != 90010 && node->gfx != 90402 && node->gfx != 90500;
}

static void check_vmid(struct gpreempt *g, struct gp_finding *f)
{
	struct names names;

	find_nodes(g, &names, one_vmid);
	if (!names.count)
		gp_find(f, "several processes of a GPU can be held at once");
	else
		gp_find_bad(f, GP_HEALTH_WARNING,
			    "let one go before you hold the next",
			    "only one process at a time can be held on GPU %s",
			    names.text);
}

/* kfd_dbg_has_cwsr_workaround() there. */
static bool halves(struct gpreempt *g, const struct gpreempt_node *node)
{
	(void)g;
	return node->gfx >= 110000 && node->gfx <= 110003;
}

static void check_workaround(struct gpreempt *g, struct gp_finding *f)
{
	struct names names;

	find_nodes(g, &names, halves);
	if (!names.count)
		gp_find(f, "being held costs a process no compute units");
	else
		gp_find_bad(f, GP_HEALTH_NOTE,
			    "hold it for short; processes with a CU mask "
			    "cannot be held",
			    "a process that is held has half the compute "
			    "units of GPU %s, also while its queues run",
			    names.text);
}

static bool no_scheduler(struct gpreempt *g, const struct gpreempt_node *node)
{
	(void)g;
	return node->scheduler == GP_VIEW_SCHEDULER_NONE;
}

/* The driver then refuses debug sessions, whatever is asked. */
static bool runs_unscheduled(struct gpreempt *g)
{
	struct names names;
	char text[16] = "";

	find_nodes(g, &names, no_scheduler);
	gp_read_small(g, text, sizeof(text),
		      GP_AMDGPU "/parameters/"
				"sched_policy");
	return names.count || *text == '2';
}

static void check_scheduler(struct gpreempt *g, struct gp_finding *f)
{
	if (runs_unscheduled(g))
		gp_find_failed(f, GPREEMPT_CLASS_UNSUPPORTED,
			       "do not load amdgpu with sched_policy=2",
			       "the driver runs without the hardware scheduler, "
			       "and then refuses debug sessions");
	else
		gp_find(f, "a hardware scheduler runs the queues");
}

static void check_cwsr(struct gpreempt *g, struct gp_finding *f)
{
	char text[16];

	if (gp_read_small(g, text, sizeof(text),
			  GP_AMDGPU "/parameters/"
				    "cwsr_enable") < 0)
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "",
			    "amdgpu does not tell whether it uses CWSR");
	else if (*text == '0')
		gp_find_failed(f, GPREEMPT_CLASS_UNSUPPORTED,
			       "load amdgpu with cwsr_enable=1, its default",
			       "CWSR is off: work cannot be saved, and "
			       "suspending long kernels hangs the GPU");
	else
		gp_find(f, "CWSR is on: work is saved when it is preempted");
}

/*
 * Drivers differ in whether every process may end a session, and distributions
 * have the change in old releases, too: Linux 7.2, Debian's 6.12.117.
 */
static void check_sessions(struct gpreempt *g, struct gp_finding *f)
{
	int ret = runs_unscheduled(g) ? -ENOTSUP : g->ops->ask_disable(g->be);

	switch (ret) {
	case -EPERM:
		gp_find(f,
			"only a process with the right can end a debug session");
		break;
	case -EINVAL:
		gp_find_bad(f, GP_HEALTH_NOTE,
			    "it is noticed, and queues are suspended again",
			    "this driver lets any process that may open /dev/kfd "
			    "end a debug session");
		break;
	case -EBUSY:
		gp_find_bad(f, GP_HEALTH_WARNING,
			    "end the profiler, such as rocprofv3 with PC sampling",
			    "the driver profiles a process, and refuses debug "
			    "sessions meanwhile");
		break;
	default:
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "",
			    "who may end a debug session cannot be asked");
	}
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
	{ 0 },
};
