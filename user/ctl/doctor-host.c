// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks of doctor: host and view, and how a finding is made. */
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hold/holder.h"
#include "hold/run-dir.h"
#include "lib/see/see.h"
#include "lib/see/words.h"
#include "shared/util.h"
#include "doctor.h"

/* Findings: functions that fill one in, and its words. */

const char *const gp_health_names[] = {
	[GP_HEALTH_OK] = "ok",		 [GP_HEALTH_NOTE] = "note",
	[GP_HEALTH_WARNING] = "warning", [GP_HEALTH_FAILED] = "failed",
	[GP_HEALTH_UNKNOWN] = "unknown",
};

enum gpreempt_class gp_finding_class(const struct gp_finding *f, enum gpreempt_class before)
{
	bool worse = before == GPREEMPT_CLASS_DONE || (before == GPREEMPT_CLASS_PERMISSION &&
						       f->failure == GPREEMPT_CLASS_UNSUPPORTED);

	return f->health == GP_HEALTH_FAILED && worse ? f->failure : before;
}

void gp_find(struct gp_finding *f, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(f->text, sizeof(f->text), format, ap);
	va_end(ap);
}

static void find_bad(struct gp_finding *f, enum gp_health health, const char *next,
		     const char *format, va_list ap)
{
	f->health = health;
	snprintf(f->next, sizeof(f->next), "%s", next);
	vsnprintf(f->text, sizeof(f->text), format, ap);
}

void gp_find_bad(struct gp_finding *f, enum gp_health health, const char *next, const char *format,
		 ...)
{
	va_list ap;

	va_start(ap, format);
	find_bad(f, health, next, format, ap);
	va_end(ap);
}

void gp_find_failed(struct gp_finding *f, enum gpreempt_class class, const char *next,
		    const char *format, ...)
{
	va_list ap;

	f->failure = class;
	va_start(ap, format);
	find_bad(f, GP_HEALTH_FAILED, next, format, ap);
	va_end(ap);
}

/* Checks of the caller's rights on this host. */

#define HOST_PID_NAMESPACE "pid:[4026531836]" /* the host's number on every kernel */

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
			       "set kernel.yama.ptrace_scope to 2 or less in /etc/sysctl.d and "
			       "boot again: 3 stays until then",
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
			    "the kernel is locked down, and loads only signed modules");
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

/* Checks of gpreempt.ko, and of the work on the GPUs just now. */

#define FEATURE "feature_"

/* Features that older drivers never have: no fault when they are off. */
static const char *const only_newer[] = { "contexts", "resets", "waves" };

static bool lacks(const struct gpreempt_fact *fact)
{
	size_t i;

	if (strncmp(fact->key, FEATURE, strlen(FEATURE)) || !strcmp(fact->value, "on"))
		return false;
	for (i = 0; i < ARRAY_SIZE(only_newer); i++)
		if (!strcmp(fact->key + strlen(FEATURE), only_newer[i]))
			return false;
	return true;
}

static void add_word(char *text, size_t size, const char *word)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, "%s%s", used ? " " : "", word);
}

static const char *fact(const struct gpreempt_facts *facts, const char *key)
{
	const struct gpreempt_fact *f = gp_facts_find(facts, key);

	return f ? f->value : "?";
}

/* Does the module refuse the driver that it is loaded beside? */
static bool contradicts(struct gpreempt *g)
{
	static const char *const files[] = { GP_VIEW_NODES_FILE, GP_VIEW_PROCESSES_FILE };
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		__cleanup_free char *text = NULL;

		if (gp_view_text(g, 0, files[i], &text, &len) == -EUCLEAN)
			return true;
	}
	return false;
}

/* Say why the module's files are not there. */
static void find_no_module(struct gpreempt *g, enum gpreempt_reason reason, struct gp_finding *f)
{
	char state[16];

	if (g->ops->is_root(g->be) &&
	    gp_read_small(g, state, sizeof(state), "/sys/module/gpreempt/initstate") > 0) {
		f->name = "module-files";
		gp_find_bad(f, GP_HEALTH_WARNING,
			    "mount debugfs; root in a container also needs CAP_SYS_ADMIN and "
			    "CAP_SYS_PTRACE",
			    "gpreempt.ko is loaded, and its files cannot be read here: slots are not "
			    "to be seen");
	} else if (reason == GPREEMPT_NO_MODULE && g->ops->is_root(g->be)) {
		gp_find_bad(f, GP_HEALTH_WARNING, "modprobe gpreempt",
			    "gpreempt.ko is not loaded: slots are not to be seen");
	} else {
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "run it with sudo",
			    "whether gpreempt.ko is loaded is for root to see");
	}
}

static void check_module(struct gpreempt *g, struct gp_finding *f)
{
	__cleanup_list struct gpreempt_facts *facts = NULL;
	struct gpreempt_error err;
	char off[96] = "";
	size_t i;

	if (gp_module_version(g, &facts, &err)) {
		find_no_module(g, err.reason, f);
		return;
	}
	if (contradicts(g)) {
		f->name = "driver-data";
		gp_find_bad(f, GP_HEALTH_WARNING,
			    "figures come from sysfs, and no suspend is "
			    "verified; see dmesg for which data, and report it",
			    "gpreempt.ko %s cannot be read: the driver's data "
			    "contradict themselves",
			    fact(facts, "module"));
		return;
	}
	for (i = 0; i < facts->count; i++)
		if (lacks(&facts->facts[i]))
			add_word(off, sizeof(off), facts->facts[i].key + strlen(FEATURE));
	if (*off)
		gp_find_bad(f, GP_HEALTH_NOTE,
			    "cat " GP_DEBUGFS "/" GP_VIEW_DIR "/" GP_VIEW_VERSION_FILE
			    " says what the driver lacks",
			    "gpreempt.ko %s, without %s", fact(facts, "module"), off);
	else
		gp_find(f, "gpreempt.ko %s, all features", fact(facts, "module"));
}

static void check_hardware(struct gpreempt *g, struct gp_finding *f)
{
	__cleanup_list struct gpreempt_nodes *nodes = NULL;
	char bad[128] = "", one[48];
	size_t i;

	if (gpreempt_nodes_read(g, &nodes, NULL)) {
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "", "the GPUs cannot be looked at");
		return;
	}
	for (i = 0; i < nodes->count; i++) {
		const struct gpreempt_node *node = &nodes->nodes[i];

		/* A GPU that is not in use can be read as soon as it is. */
		if (node->hardware == GP_VIEW_HARDWARE_READ ||
		    node->hardware == GP_VIEW_HARDWARE_UNUSED || node->hardware == GPREEMPT_UNKNOWN)
			continue;
		snprintf(one, sizeof(one), "0x%llx: %s", (unsigned long long)node->gpu_id,
			 gpreempt_word(GPREEMPT_WORD_HARDWARE, node->hardware));
		add_word(bad, sizeof(bad), one);
	}
	if (*bad)
		gp_find_bad(f, GP_HEALTH_WARNING,
			    "a GPU that sleeps wakes up when it is used; for the rest see dmesg",
			    "not to be read: %s", bad);
	else if (!nodes->count)
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "", "there is no GPU that could be looked at");
	else if (nodes->source == GPREEMPT_SOURCE_SYSFS)
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "",
			    "the hardware is not to be seen without gpreempt.ko");
	else
		gp_find(f, "the hardware of all GPUs can be read");
}

/*
 * Join the texts of say() for all GPU processes. If they cannot be listed, returns false, and
 * this is the finding.
 */
static bool ask_processes(struct gpreempt *g, struct gp_finding *f,
			  bool (*say)(struct gpreempt *g, pid_t pid, char *buf, size_t size),
			  char *text, size_t size)
{
	__cleanup_list struct gpreempt_targets *all = NULL;
	char one[64];
	size_t i;

	if (gpreempt_processes(g, &all, NULL)) {
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "", "the GPU processes cannot be listed");
		return false;
	}
	for (i = 0; i < all->count; i++)
		if (say(g, all->targets[i].pid, one, sizeof(one)))
			add_word(text, size, one);
	return true;
}

static bool say_debugger(struct gpreempt *g, pid_t pid, char *buf, size_t size)
{
	struct gpreempt_description d;

	/* Do not read its command line: the process could make us wait for that. */
	if (gp_identify(g, pid, &d) || !d.tracer)
		return false;
	snprintf(buf, size, "%d by %d (%.15s)", pid, d.tracer, d.tracer_comm);
	return true;
}

static void check_debuggers(struct gpreempt *g, struct gp_finding *f)
{
	char text[128] = "";

	if (!ask_processes(g, f, say_debugger, text, sizeof(text)))
		return;
	if (*text)
		gp_find_bad(f, GP_HEALTH_NOTE, "resume them, or end the debugger",
			    "held or debugged: %s", text);
	else
		gp_find(f, "no GPU process is held or debugged");
}

/* A holder has opened /dev/kfd, and uses no GPU. */
static bool is_ours(struct gpreempt *g, pid_t pid)
{
	struct gpreempt_description who;
	struct hold_owners owners = { 0 };
	bool owner;

	if (g->saved)
		return !gp_identify(g, pid, &who) && !strcmp(who.comm, HOLD_TITLE);
	owner = hold_skip_owner(&owners, pid);
	hold_owners_free(&owners);
	return owner || pid == getpid();
}

static bool say_no_space(struct gpreempt *g, pid_t pid, char *buf, size_t size)
{
	struct gpreempt_error err = { 0 };

	if (gp_check_gpus(g, pid, "looking", &err) != -EOPNOTSUPP || is_ours(g, pid))
		return false;
	snprintf(buf, size, "%d", pid);
	return true;
}

/* Newer kernels crash without one: see gpus.c. */
static void check_spaces(struct gpreempt *g, struct gp_finding *f)
{
	char text[96] = "";

	if (!ask_processes(g, f, say_no_space, text, sizeof(text)))
		return;
	if (*text)
		gp_find_bad(f, GP_HEALTH_WARNING,
			    "they are refused; try again when they have started up",
			    "no address space on some GPU, on which kernels crash: %s", text);
	else
		gp_find(f, "all GPU processes have address spaces where they need them");
}

const struct gp_doctor_check gp_view_checks[] = {
	{ .name = "module", .run = check_module },
	{ .name = "hardware", .run = check_hardware },
	{ .name = "debuggers", .run = check_debuggers },
	{ .name = "address-spaces", .run = check_spaces },
	{ 0 },
};

/* Doctor of a host: all checks, one after the other. */

static const struct gp_doctor_check *const lists[] = {
	gp_driver_checks,
	gp_host_checks,
	gp_view_checks,
};

void gp_doctor(struct gpreempt *g, void (*found)(void *data, const struct gp_finding *f),
	       void *data)
{
	const struct gp_doctor_check *check;
	bool pause_only = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		for (check = lists[i]; check->name; check++) {
			struct gp_finding f = { .name = check->name };

			if (check->debug && pause_only)
				gp_find_bad(&f, GP_HEALTH_NOTE, "",
					    "not checked: the driver has no debug trap");
			else
				check->run(g, &f);
			if (check->decides)
				pause_only = f.health == GP_HEALTH_WARNING;
			found(data, &f);
		}
	}
	gp_doctor_faults(g, found, data);
}
