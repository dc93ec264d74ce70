// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks of gpreempt.ko, and of what runs on the GPUs just now. */
#include <stdio.h>
#include <string.h>

#include "lib/doctor/checks.h"
#include "lib/observe/observe.h"
#include "shared/macro.h"

#define FEATURE "feature_"

/* What older drivers have not: where it is off, nothing lacks. */
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
	const struct gpreempt_fact *f = gpreempt_facts_find(facts, key);

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

static void check_module(struct gpreempt *g, struct gp_finding *f)
{
	struct gpreempt_facts *facts;
	struct gpreempt_error err;
	char off[96] = "";
	size_t i;

	if (gpreempt_module_version(g, &facts, &err)) {
		if (err.reason == GPREEMPT_NO_MODULE && g->ops->is_root(g->be))
			gp_find_bad(f, GP_HEALTH_WARNING, "modprobe gpreempt",
				    "gpreempt.ko is not loaded: slots are not "
				    "to be seen");
		else
			gp_find_bad(f, GP_HEALTH_UNKNOWN, "run it with sudo",
				    "whether gpreempt.ko is loaded is for "
				    "root to see");
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
		gpreempt_facts_free(facts);
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
	gpreempt_facts_free(facts);
}

static void check_hardware(struct gpreempt *g, struct gp_finding *f)
{
	struct gpreempt_nodes *nodes;
	char bad[128] = "", one[48];
	size_t i;

	if (gpreempt_nodes_read(g, &nodes, NULL)) {
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "", "the GPUs cannot be looked at");
		return;
	}
	for (i = 0; i < nodes->count; i++) {
		const struct gpreempt_node *node = &nodes->nodes[i];

		/* One that is not in use is read as soon as it is. */
		if (node->hardware == GP_VIEW_HARDWARE_READ ||
		    node->hardware == GP_VIEW_HARDWARE_UNUSED || node->hardware == GPREEMPT_UNKNOWN)
			continue;
		snprintf(one, sizeof(one), "0x%llx: %s", (unsigned long long)node->gpu_id,
			 gpreempt_hardware_name(node->hardware));
		add_word(bad, sizeof(bad), one);
	}
	if (*bad)
		gp_find_bad(f, GP_HEALTH_WARNING,
			    "a GPU that sleeps wakes up when it is used; for "
			    "the rest see dmesg",
			    "not to be read: %s", bad);
	else if (!nodes->count)
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "", "there is no GPU that could be looked at");
	else if (nodes->source == GPREEMPT_SOURCE_SYSFS)
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "",
			    "the hardware is not to be seen without "
			    "gpreempt.ko");
	else
		gp_find(f, "the hardware of all GPUs can be read");
	gpreempt_nodes_free(nodes);
}

/*
 * What say() has to say of each GPU process, joined. False when they cannot be
 * listed, which is the finding then.
 */
static bool ask_processes(struct gpreempt *g, struct gp_finding *f,
			  bool (*say)(struct gpreempt *g, pid_t pid, char *buf, size_t size),
			  char *text, size_t size)
{
	struct gpreempt_targets *all;
	char one[64];
	size_t i;

	if (gpreempt_processes(g, &all, NULL)) {
		gp_find_bad(f, GP_HEALTH_UNKNOWN, "", "the GPU processes cannot be listed");
		return false;
	}
	for (i = 0; i < all->count; i++)
		if (say(g, all->targets[i].pid, one, sizeof(one)))
			add_word(text, size, one);
	gpreempt_targets_free(all);
	return true;
}

static bool say_debugger(struct gpreempt *g, pid_t pid, char *buf, size_t size)
{
	struct gpreempt_description d;

	/* Not its command line, for which the process could make us wait. */
	if (gpreempt_identify(g, pid, &d) || !d.tracer)
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

static bool say_no_space(struct gpreempt *g, pid_t pid, char *buf, size_t size)
{
	struct gpreempt_error err = { 0 };

	if ((pid == getpid() && !g->saved) || gp_check_gpus(g, pid, "looking", &err) != -EOPNOTSUPP)
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
			    "they are refused; try again when they have "
			    "started up",
			    "no address space on some GPU, on which kernels "
			    "crash: %s",
			    text);
	else
		gp_find(f, "all GPU processes have address spaces where they "
			   "need them");
}

const struct gp_doctor_check gp_view_checks[] = {
	{ .name = "module", .run = check_module },
	{ .name = "hardware", .run = check_hardware },
	{ .name = "debuggers", .run = check_debuggers },
	{ .name = "address-spaces", .run = check_spaces },
	{ 0 },
};
