// SPDX-License-Identifier: GPL-2.0-only
/*
 * A host, now or in a snapshot: what list, status and doctor print of it with --json. Each
 * runs in a process of its own, which a target that does not answer can keep for ever.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ctl/command/ctl.h"
#include "ctl/report/report.h"
#include "ctl/text/open.h"
#include "ctl/text/snapshot.h"
#include "shared/child.h"
#include "shared/clock.h"

/* status waits 10 s for a holder that is in the driver. */
#define ANSWER_NS (30 * NSEC_PER_SEC)
#define NAP_NS	  NSEC_PER_MSEC

struct run {
	const struct ctl_command *cmd;
	const char *snapshot; /* NULL: this host */
	int out;
};

static int run_here(void *arg)
{
	const struct run *run = arg;
	char *argv[] = { (char *)run->cmd->name, "--json", "--from", (char *)run->snapshot, NULL };
	void *args = ctl_new_args(run->cmd);
	int ret = GPREEMPT_CLASS_FAILED;

	if (!args || dup2(run->out, STDOUT_FILENO) < 0)
		return ret;
	ret = ctl_parse(run->cmd, run->snapshot ? 4 : 2, argv, args);
	if (ret < 0)
		ret = run->cmd->run(args);
	fflush(stdout);
	return ret;
}

/* 0 when it has ended, or -ETIMEDOUT: it is left behind. */
static int wait_for(pid_t child)
{
	uint64_t end = shr_now_ns() + ANSWER_NS;
	int status;

	while (!shr_child_gone(&child, &status)) {
		if (shr_now_ns() > end) {
			shr_child_abandon(child);
			return -ETIMEDOUT;
		}
		shr_sleep_ns(NAP_NS);
	}
	return 0;
}

/* What it prints, as an object; NULL: nothing, which it has said itself. */
static struct json_object *run_command(struct run *run)
{
	struct json_object *o = NULL;
	char *text;
	pid_t child;

	fflush(stdout);
	run->out = memfd_create("gpreempt-report", MFD_CLOEXEC);
	if (run->out < 0)
		return NULL;
	child = shr_child_start(run_here, run, &run->out, 1);
	if (child > 0 && wait_for(child)) {
		ctl_note("%s has not answered in time", run->cmd->name);
	} else if (child > 0 && !lseek(run->out, 0, SEEK_SET) &&
		   text_read_all(run->out, TEXT_FILE_MAX, &text) >= 0) {
		o = json_tokener_parse(text);
		free(text);
	}
	close(run->out);
	return o;
}

static void add_rows(struct report *r, struct json_object *state, const char *snapshot,
		     const struct ctl_command *cmd, const char *key)
{
	struct run run = { .cmd = cmd, .snapshot = snapshot };
	struct json_object *o = run_command(&run), *rows;

	rows = report_get(o, key);
	if (!json_object_is_type(rows, json_type_array)) {
		r->status = GPREEMPT_CLASS_PARTIAL;
		rows = NULL;
	}
	/* null: unknown. */
	out_add(state, key, json_object_get(rows));
	json_object_put(o);
}

static const struct out_field gpu_fields[] = {
	OUT_FIELD(struct gpreempt_node, gpu_id, NULL, OUT_HEX),
	OUT_FIELD(struct gpreempt_node, device, NULL, OUT_TEXT, .array = true),
	OUT_FIELD(struct gpreempt_node, gfx, NULL, OUT_DEC),
	OUT_FIELD(struct gpreempt_node, xccs, NULL, OUT_DEC),
	OUT_FIELD(struct gpreempt_node, slots_used, NULL, OUT_DEC),
	OUT_FIELD(struct gpreempt_node, slots, NULL, OUT_DEC),
	OUT_FIELD(struct gpreempt_node, processes, NULL, OUT_DEC),
	OUT_FIELD(struct gpreempt_node, queues, NULL, OUT_DEC),
	OUT_FIELD(struct gpreempt_node, oversubscribed, NULL, OUT_FLAG),
};

static const struct out_table gpu_table = OUT_TABLE("gpus", gpu_fields, struct gpreempt_node);

static void add_gpus(struct report *r, struct json_object *state, struct gpreempt *g)
{
	struct gpreempt_nodes *nodes;

	if (gpreempt_nodes_read(g, &nodes, NULL)) {
		r->status = GPREEMPT_CLASS_PARTIAL;
		out_add(state, gpu_table.name, NULL);
		return;
	}
	out_add(state, gpu_table.name, out_json_rows(&gpu_table, nodes->nodes, nodes->count));
	gpreempt_nodes_free(nodes);
}

static void describe_now(struct report *r, struct json_object *state)
{
	time_t now = time(NULL);
	struct utsname host;
	char when[64];
	struct tm tm;

	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	uname(&host);
	out_add(state, "time", out_json_text(when));
	out_add(state, "host", out_json_text(host.nodename));
	out_add(state, "kernel", out_json_text(host.release));
	out_add(state, "gpreempt", out_json_text(gpreempt_version()));
	r->simulated |= ctl_simulated();
}

/* Its lines of a key and a value, behind the heading. */
static void describe_snapshot(struct report *r, struct json_object *state, const char *dir)
{
	static const char *const keys[] = { "time", "host", "kernel", "gpreempt" };
	size_t len, i;
	char *all = text_read_in(dir, SNAPSHOT_INFO, &len);
	char *rest = all, *line, *value;

	while ((line = strsep(&rest, "\n"))) {
		value = strchr(line, ' ');
		if (!value)
			continue;
		*value++ = '\0';
		for (i = 0; i < ARRAY_SIZE(keys); i++)
			if (!strcmp(line, keys[i]))
				out_add(state, keys[i], out_json_text(value));
		r->simulated |= !strcmp(line, "simulated") && *value == '1';
	}
	free(all);
}

int report_system(struct report *r, const char *snapshot)
{
	struct json_object *state, *source;
	struct gpreempt *g;
	int ret = ctl_open(snapshot, &g);

	if (ret)
		return ret;
	state = json_object_new_object();
	out_add(state, "source", out_json_text(snapshot ? snapshot : "now"));
	if (snapshot)
		describe_snapshot(r, state, snapshot);
	else
		describe_now(r, state);
	add_gpus(r, state, g);
	gpreempt_free(g);
	add_rows(r, state, snapshot, &ctl_list, "processes");
	/* A snapshot does not have what holders would answer. */
	if (!snapshot)
		add_rows(r, state, NULL, &ctl_status, "holders");
	add_rows(r, state, snapshot, &ctl_doctor, "checks");
	json_object_array_add(r->states, state);
	source = json_object_new_object();
	out_add(source, "name", out_json_text(snapshot ? snapshot : "now"));
	out_add(source, "kind", out_json_text(snapshot ? "snapshot" : "now"));
	json_object_array_add(r->sources, source);
	return 0;
}
