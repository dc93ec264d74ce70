// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks of what the caller may do on this host. */
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/doctor/checks.h"

#define HOST_PID_NAMESPACE "pid:[4026531836]" /* the same on every kernel */

static void check_root(struct gpreempt *g, struct gp_finding *f)
{
	if (g->ops->is_root(g->be))
		gp_find(f, "this is root");
	else
		gp_find_failed(f, GPREEMPT_CLASS_PERMISSION, "run it with sudo",
			       "only root may suspend the queues of a process");
}

static void check_ptrace(struct gpreempt *g, struct gp_finding *f)
{
	uint64_t caps;
	char text[8192];
	const char *at = NULL;

	if (gp_read_small(g, text, sizeof(text), "/proc/self/status") > 0)
		at = strstr(text, "\nCapEff:");
	if (!at) {
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "", "capabilities cannot be read");
		return;
	}
	caps = strtoull(at + strlen("\nCapEff:"), NULL, 16);
	if (caps & 1ULL << CAP_SYS_PTRACE)
		gp_find(f, "this process has CAP_SYS_PTRACE");
	else
		gp_find_failed(f, GPREEMPT_CLASS_PERMISSION,
			       "run it as root, in no container that drops it",
			       "this process has no CAP_SYS_PTRACE");
}

static void check_yama(struct gpreempt *g, struct gp_finding *f)
{
	char text[16];
	ssize_t n = gp_read_small(g, text, sizeof(text), "/proc/sys/kernel/yama/ptrace_scope");

	if (n == -ENOENT)
		gp_find(f, "Yama is not there");
	else if (n < 0)
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "", "Yama's ptrace_scope cannot be read");
	else if (*text == '3')
		gp_find_failed(f, GPREEMPT_CLASS_PERMISSION,
			       "set kernel.yama.ptrace_scope to 2 or less in "
			       "/etc/sysctl.d and boot again: 3 stays until "
			       "then",
			       "Yama forbids all tracing (ptrace_scope is 3)");
	else
		gp_find(f, "Yama lets root trace (ptrace_scope is %c)", *text);
}

static void check_namespace(struct gpreempt *g, struct gp_finding *f)
{
	char ns[64];
	ssize_t n;

	n = g->ops->read_link(g->be, "/proc/self/ns/pid", ns, sizeof(ns) - 1);
	if (n < 0) {
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "", "the PID namespace is unknown");
		return;
	}
	ns[n] = '\0';
	if (!strcmp(ns, HOST_PID_NAMESPACE))
		gp_find(f, "this is the host's PID namespace");
	else
		gp_find_failed(f, GPREEMPT_CLASS_UNSUPPORTED,
			       "run it on the host, not in a container",
			       "this is not the host's PID namespace");
}

/* The module's files stay readable; whether it can be loaded is the question. */
static void check_signed(struct gpreempt *g, struct gp_finding *f)
{
	static const char next[] = "sign gpreempt.ko with a key that the kernel knows, as DKMS "
				   "does: mokutil --import /var/lib/dkms/mok.pub";
	char text[64], enforce[8];
	ssize_t n = gp_read_small(g, text, sizeof(text), "/sys/kernel/security/lockdown");
	ssize_t m = gp_read_small(g, enforce, sizeof(enforce),
				  "/sys/module/module/parameters/sig_enforce");

	if (n > 0 && !strstr(text, "[none]"))
		gp_find_bad(f, GP_HEALTH_NOTE, next,
			    "the kernel is locked down, and loads only signed "
			    "modules");
	else if (m > 0 && *enforce == 'Y')
		gp_find_bad(f, GP_HEALTH_NOTE, next, "the kernel loads only signed modules");
	else if (n <= 0 && m <= 0)
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "",
			    "whether the kernel is locked down cannot be read");
	else
		gp_find(f, "the kernel is not locked down");
}

static void check_debugfs(struct gpreempt *g, struct gp_finding *f)
{
	__cleanup_free char *text = NULL;
	char name[8];
	size_t len;
	int ret;

	if (gp_read_text(g, "/proc/self/mounts", &text, &len)) {
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "", "the mounts cannot be read");
		return;
	}
	if (!strstr(text, " " GP_DEBUGFS " debugfs ")) {
		gp_find_bad(f, GP_HEALTH_WARNING, "mount -t debugfs none " GP_DEBUGFS,
			    "debugfs is not mounted: slots are not to be seen");
		return;
	}
	ret = g->ops->read_link(g->be, GP_DEBUGFS "/" GP_VIEW_DIR, name, sizeof(name));
	if (ret == -EACCES || ret == -EPERM)
		gp_find_bad(f, GP_HEALTH_WARNING, "run it with sudo",
			    "debugfs is for root: slots are not to be seen");
	else
		gp_find(f, "debugfs is mounted");
}

const struct gp_doctor_check gp_host_checks[] = {
	{ .name = "root", .run = check_root },
	{ .name = "ptrace", .run = check_ptrace },
	{ .name = "yama", .run = check_yama },
	{ .name = "namespace", .run = check_namespace },
	{ .name = "lockdown", .run = check_signed },
	{ .name = "debugfs", .run = check_debugfs },
	{ 0 },
};
