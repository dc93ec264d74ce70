// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tells when KFD makes or releases a process, by two return probes.
 *
 * A process is in KFD's table when kfd_create_process() returns, and out of it
 * when kfd_process_notifier_release() returns, which is a part of the exit of
 * the process: before its parent can wait for it.
 */

#include <linux/kprobes.h>

#include "events.h"
#include "symbols.h"

#ifdef CONFIG_KRETPROBES

/* Processes that can be in one of the functions at once without being missed */
#define MAX_ACTIVE 256

static void (*events_notify)(void);
static bool events_on;

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	events_notify();
	return 0;
}

NOKPROBE_SYMBOL(on_return);

static struct kretprobe created = {
	.handler = on_return,
	.maxactive = MAX_ACTIVE,
};

static struct kretprobe released = {
	.handler = on_return,
	.maxactive = MAX_ACTIVE,
};

static struct kretprobe *probes[] = { &created, &released };

bool gp_events_start(void (*notify)(void))
{
	int ret = -ENOENT;

	events_notify = notify;
	created.kp.addr = gp_symbols.created;
	released.kp.addr = gp_symbols.released;
	if (gp_symbols.created && gp_symbols.released)
		ret = register_kretprobes(probes, ARRAY_SIZE(probes));
	if (ret)
		pr_warn("cannot probe amdgpu (%d): looking for processes all the time instead\n",
			ret);
	events_on = !ret;
	return events_on;
}

void gp_events_stop(void)
{
	if (events_on)
		unregister_kretprobes(probes, ARRAY_SIZE(probes));
	events_on = false;
}

bool gp_events_on(void)
{
	return events_on;
}

#else /* !CONFIG_KRETPROBES */

bool gp_events_start(void (*notify)(void))
{
	pr_warn("a kernel without KRETPROBES: looking for processes all the time instead\n");
	return false;
}

void gp_events_stop(void)
{
}

bool gp_events_on(void)
{
	return false;
}

#endif /* CONFIG_KRETPROBES */
