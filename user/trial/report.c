// SPDX-License-Identifier: GPL-2.0-only
/* Output of a trial: the plan, the page and one JSON object. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "trial.h"

static const struct out_field stage_fields[] = {
	OUT_FIELD(struct trial_line, stage, "STAGE", OUT_DEC),
	OUT_FIELD(struct trial_line, name, "NAME", OUT_TEXT),
	OUT_FIELD(struct trial_line, result, "RESULT", OUT_TEXT),
	OUT_NAMED("time_s", struct trial_line, time, "TIME-S", OUT_S),
	OUT_FIELD(struct trial_line, why, "WHY", OUT_TEXT, .array = true, .wrap = true),
};

static const struct out_table stage_table = OUT_TABLE("stages", stage_fields, struct trial_line);

static const struct out_field claim_fields[] = {
	OUT_FIELD(struct trial_verdict, verdict, "VERDICT", OUT_TEXT),
	OUT_FIELD(struct trial_verdict, tried, "TRIED", OUT_DEC),
	OUT_FIELD(struct trial_verdict, held, "HELD", OUT_DEC),
	OUT_FIELD(struct trial_verdict, claim, "CLAIM", OUT_TEXT, .wrap = true),
	OUT_FIELD(struct trial_verdict, how, NULL, OUT_TEXT),
};

static const struct out_table claim_table = OUT_TABLE("claims", claim_fields, struct trial_verdict);

void trial_print_plan(unsigned int stages, unsigned int open, double scale)
{
	size_t i;

	for (i = 0; i < TRIAL_STAGES; i++)
		if (stages & 1U << i)
			ctl_say("stage %zu, %s: %s; at most %.0f s%s%s", i, trial_stages[i].name,
				trial_stages[i].what, trial_stages[i].limit_s * scale,
				trial_stages[i].asks ? "; asks first" : "",
				open & 1U << i ? "; it hung before: left out without --again" : "");
}

/* A line for each object of a run that has such figures; the others are in the JSON. */
static void print_figures(const char *before, struct json_object *of)
{
	static const char shown[] = " n p50 p99 max register_reads in_all_slots looks busy "
				    "on_first_xcc on_all_xccs compared agree differs state_bytes "
				    "limit_us gap_us first_wrong ";
	char text[512] = "", word[64];
	size_t len = 0;

	json_object_object_foreach(of, key, value)
	{
		snprintf(word, sizeof(word), " %s ", key);
		if (value && !json_object_is_type(value, json_type_object) && strstr(shown, word) &&
		    len < sizeof(text))
			len += snprintf(text + len, sizeof(text) - len, " %s=%s", key,
					json_object_get_string(value));
	}
	if (*text)
		ctl_say("%s:%s", before, text);
	json_object_object_foreach(of, part, inner)
	{
		if (!json_object_is_type(inner, json_type_object))
			continue;
		snprintf(text, sizeof(text), "%s %s", before, part);
		print_figures(text, inner);
	}
}

/* Print the figures, and a note when the witness did not run. */
static void print_runs(const struct trial_gpu *gpu)
{
	struct json_object *run;
	char text[128];
	size_t i, j;

	if (!gpu->claims[TRIAL_REGISTERS].tried && gpu->claims[TRIAL_ONCE].tried)
		ctl_say("registers: not tried: dispatches completed, but no code ran");
	for (i = 0; i < TRIAL_STAGES; i++)
		for (j = 0; j < json_object_array_length(gpu->stages[i].runs); j++) {
			run = json_object_array_get_idx(gpu->stages[i].runs, j);
			snprintf(text, sizeof(text), "%s, %s", trial_stages[i].name,
				 json_object_get_string(json_object_object_get(run, "name")));
			print_figures(text, run);
		}
}

void trial_print_page(const struct trial_gpu *gpu, const struct gp_gpu *name)
{
	char text[128];

	gp_gpu_text(name, text, sizeof(text));
	ctl_say("trial of GPU %s %s", text, gpu->gfx);
	out_rows(out_mode(), &stage_table, gpu->stages, TRIAL_STAGES);
	out_rows(out_mode(), &claim_table, gpu->claims, TRIAL_CLAIMS);
	print_runs(gpu);
	ctl_label_times();
}

struct json_object *trial_json(const struct trial_gpu *gpu, const struct gp_gpu *name)
{
	struct json_object *o = json_object_new_object(), *list;
	size_t i;

	out_add(o, "gpu", out_json_number(name->index));
	out_add(o, "pci", out_json_text(*name->device ? name->device : NULL));
	out_add(o, "gfx", out_json_text(*gpu->gfx ? gpu->gfx : NULL));
	list = out_json_rows(&stage_table, gpu->stages, TRIAL_STAGES);
	for (i = 0; i < TRIAL_STAGES; i++) {
		struct json_object *stage = json_object_array_get_idx(list, i);

		out_add(stage, "log", json_object_get(gpu->stages[i].log));
		out_add(stage, "runs", json_object_get(gpu->stages[i].runs));
	}
	out_add(o, stage_table.name, list);
	out_add(o, claim_table.name, out_json_rows(&claim_table, gpu->claims, TRIAL_CLAIMS));
	return o;
}

struct json_object *trial_json_all(struct json_object *gpus, int64_t status)
{
	struct json_object *o = json_object_new_object();
	struct utsname host = { 0 };

	uname(&host);
	out_add(o, "version", out_json_text(GP_VERSION));
	out_add(o, "kernel", out_json_text(host.release));
	out_add(o, "gpus", gpus);
	out_add(o, "status", out_json_number(status));
	out_add(o, "simulated", out_json_flag(ctl_simulated()));
	return o;
}
