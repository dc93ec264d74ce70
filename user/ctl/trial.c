// SPDX-License-Identifier: GPL-2.0-only
/* trial: what of gpreempt's claims holds on this host, stage by stage. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/cli.h"
#include "figures.h"
#include "klog.h"
#include "trial/trial.h"

/* Where it is installed: user.mk. */
#ifndef GP_LOAD
#define GP_LOAD "/usr/local/libexec/gpreempt/gpreempt-load"
#endif

struct trial_args {
	const char *gpu;    /* NULL: the first */
	const char *stages; /* NULL: all */
	uint64_t minutes;   /* 0: each stage's own limit */
	uint64_t dry_run, yes, again, shared;
	const char *output, *snapshot;
	enum out_mode mode;
};

struct run {
	const struct trial_args *args;
	struct trial t;
	struct gp_gpus gpus;
	uint32_t *chosen; /* ids of GPUs that the trial takes */
	size_t n_chosen;
	size_t n;		   /* GPUs that are done */
	struct gpreempt_error err; /* why the users of a GPU are not known, */
	int64_t user;		   /* or one of them */
	unsigned int stages, hung;
	double scale;
	uint64_t left_s;
	char lab[PATH_MAX], load[PATH_MAX];
	struct json_object *json;  /* the object of --json; its status is null before the end */
	struct json_object *found; /* the array of GPUs in it, also the one at hand */
	int status;
	int lock;
	int log; /* the kernel's, behind what was read of it */
};

/* Checks before the first stage. Each: 0, or the exit status after a message. */

static int choose_gpus(struct run *r)
{
	const char *word = r->args->gpu;
	bool all = word && !strcmp(word, "all"), *chosen;
	int ret = 0;
	size_t i;

	if (gp_gpus_read(r->t.g, &r->gpus, &r->err) || !r->gpus.count)
		return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED,
				     "make demo, in gpreempt's sources, shows it without a card",
				     "there is no GPU that amdgpu serves");
	r->chosen = shr_must(calloc(r->gpus.count, sizeof(*r->chosen)));
	chosen = shr_must(calloc(r->gpus.count, sizeof(*chosen)));
	chosen[0] = !word;
	if (word && !all)
		ret = ctl_find_gpu(&r->gpus, word, chosen);
	for (i = 0; i < r->gpus.count; i++)
		if (all || chosen[i])
			r->chosen[r->n_chosen++] = r->gpus.items[i].gpu_id;
	free(chosen);
	return ret;
}

/*
 * Count the processes that use a chosen GPU, or may use one. -1: not known, and r->err says why;
 * else r->user is one of them.
 */
static int64_t count_users(struct run *r)
{
	struct ctl_sampler s;
	int64_t n = 0;
	size_t i;

	ctl_sampler_init(&s, r->t.g, 0);
	ctl_sampler_look(&s);
	if (ctl_sampler_refresh(&s, &r->err))
		n = -1;
	for (i = 0; n >= 0 && i < s.figures.processes.count; i++) {
		const struct ctl_process *p = &s.figures.processes.items[i];

		if (ctl_process_uses(p, r->chosen, r->n_chosen)) {
			r->user = p->pid;
			n++;
		}
	}
	ctl_sampler_clear(&s);
	return n;
}

static int check_users(struct run *r)
{
	int64_t n = r->args->shared ? 0 : count_users(r);

	if (n <= 0)
		return n ? ctl_fail(&r->err) : 0;
	return ctl_fail_text(GPREEMPT_CLASS_BUSY,
			     "end it, take another --gpu, or accept that it is disturbed: --shared",
			     "process %" PRId64 " uses this GPU, or may use it", r->user);
}

static int fail_state(int code, const char *next)
{
	return ctl_fail_text(GPREEMPT_CLASS_FAILED, ctl_want_room(code, next), TRIAL_STATE ": %s",
			     code == -EPROTO ? "it is none of ours, or damaged" : strerror(-code));
}

#define NEXT_STATE "it must be a directory of root's"

/* One trial at a time, and what hung in an earlier one. */
static int open_state(struct run *r)
{
	int ret = 0;

	if (!r->args->dry_run)
		ret = r->lock = mkdir(TRIAL_DIR, 0700) && errno != EEXIST ?
					-errno :
					shr_lock_file(TRIAL_STATE ".lock");
	if (ret == -EWOULDBLOCK)
		return ctl_fail_text(GPREEMPT_CLASS_BUSY, "wait for it",
				     "another gpreempt-ctl trial is at work");
	if (ret < 0)
		return fail_state(ret, NEXT_STATE);
	ret = trial_state_read(&r->hung);
	if (ret)
		return fail_state(ret, "look at it, and remove it");
	if (r->args->again)
		r->hung = 0;
	return 0;
}

static int parse_stages(struct run *r)
{
	uint64_t sum = 0, most = r->args->minutes * 60;
	size_t i;

	r->stages = (1U << TRIAL_STAGES) - 1;
	if (r->args->stages && trial_parse_stages(r->args->stages, &r->stages))
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "as --stages 0-3,8",
				     "--stages %s: numbers from 0 to %d", r->args->stages,
				     TRIAL_STAGES - 1);
	for (i = 0; i < TRIAL_STAGES; i++)
		if (r->stages & 1U << i)
			sum += trial_stages[i].limit_s;
	r->scale = most && most < sum ? (double)most / sum : 1;
	r->left_s = sum * r->scale;
	return 0;
}

/* Output: the plan, the page and one JSON object. */

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

static void print_plan(const struct run *r)
{
	size_t i;

	for (i = 0; i < TRIAL_STAGES; i++)
		if (r->stages & 1U << i)
			ctl_say("stage %zu, %s: %s; at most %.0f s%s%s", i, trial_stages[i].name,
				trial_stages[i].what, trial_stages[i].limit_s * r->scale,
				trial_stages[i].asks ? "; asks first" : "",
				r->hung & 1U << i ? "; it hung before: left out without --again" :
						    "");
}

/* A line for each object of a run that has such figures; the others are in the JSON. */
static void print_figures(const char *before, struct json_object *of)
{
	static const char shown[] = " n p50 p99 max register_reads in_all_slots looks busy "
				    "on_first_xcc on_all_xccs compared agree differs state_bytes "
				    "limit_us gap_us first_wrong ";
	char text[512] = "", word[128];
	size_t len = 0;

	json_object_object_foreach(of, key, value)
	{
		if (json_object_is_type(value, json_type_object)) {
			snprintf(word, sizeof(word), "%s %s", before, key);
			print_figures(word, value);
			continue;
		}
		snprintf(word, sizeof(word), " %s ", key);
		if (value && strstr(shown, word) && len < sizeof(text))
			len += snprintf(text + len, sizeof(text) - len, " %s=%s", key,
					json_object_get_string(value));
	}
	if (*text)
		ctl_say("%s:%s", before, text);
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

static void print_page(const struct trial_gpu *gpu, const struct gp_gpu *name)
{
	char text[128];

	gp_gpu_text(name, text, sizeof(text));
	ctl_say("trial of GPU %s %s", text, gpu->gfx);
	out_rows(out_mode(), &stage_table, gpu->stages, TRIAL_STAGES);
	out_rows(out_mode(), &claim_table, gpu->claims, TRIAL_CLAIMS);
	print_runs(gpu);
	ctl_label_times();
}

static void begin_json(struct run *r)
{
	struct utsname host = { 0 };

	uname(&host);
	r->json = json_object_new_object();
	r->found = json_object_new_array();
	out_add(r->json, "version", out_json_text(GP_VERSION));
	out_add(r->json, "kernel", out_json_text(host.release));
	out_add(r->json, "gpus", r->found);
	out_add(r->json, "status", NULL);
	out_add(r->json, "simulated", out_json_flag(ctl_simulated()));
}

/* A stage. */

/* Write what is known so far, so that it outlives us. 0, or the exit status after a message. */
static int write_output(struct run *r, int64_t status)
{
	const char *text;
	int ret;

	out_add(r->json, "status", out_json_number(status));
	if (!r->args->output)
		return 0;
	text = json_object_to_json_string_ext(r->json, JSON_C_TO_STRING_PRETTY);
	ret = shr_file_replace(r->args->output, 0600, text, strlen(text));
	return ret ? ctl_fail_file("result", r->args->output, "cannot be written", ret) : 0;
}

/* Has the GPU no more users than before? The driver frees a process a little after its end. */
static bool is_clean(struct run *r, int64_t before)
{
	uint64_t until = shr_now_ns() + 5 * NSEC_PER_SEC;
	int64_t now;

	while ((now = count_users(r)) > before || now < 0) {
		if (shr_now_ns() > until)
			return false;
		shr_sleep_ns(50 * NSEC_PER_MSEC);
	}
	return true;
}

/* Add what the kernel's log has got since the last time about this GPU, or about none by name. */
static void read_log(struct run *r, struct trial_gpu *gpu, struct trial_line *line)
{
	struct klog k = { 0 };
	int64_t failures = 0;
	size_t i;

	if (!klog_rest(r->log, &k)) {
		line->log = json_object_new_array();
		for (i = 0; i < k.events.count; i++) {
			const struct klog_event *e = &k.events.items[i];
			struct json_object *o;

			if (*e->gpu && strcmp(e->gpu, r->t.node.device))
				continue;
			o = json_object_new_object();
			out_add(o, "event", out_json_text(e->event));
			out_add(o, "count", out_json_number(e->count));
			json_object_array_add(line->log, o);
		}
		for (i = 0; i <= k.n_gpus; i++) {
			const struct klog_gpu *g = &k.gpus[i];

			if (!i || !strcmp(g->gpu, r->t.node.device))
				failures += g->lost + g->silent + g->resets + g->bad_resets +
					    g->page_faults;
		}
		trial_count(gpu, TRIAL_QUIET, 1, !failures);
		/* A GPU that fails gives nothing, also of what it has. */
		if (failures && line->code == TRIAL_LACKS)
			trial_set_result(line, TRIAL_FAILED);
	}
	klog_free(&k);
}

/* Ask on a terminal. Without one, and without --yes, no stage that asks is begun. */
static bool may_begin(struct run *r, const struct trial_stage *stage)
{
	char answer[256] = ""; /* the whole line: the next stage asks again */

	if (!stage->asks || r->args->yes)
		return true;
	if (!isatty(STDIN_FILENO))
		return false;
	fprintf(stderr, "%s: %s. It suspends a process of its own. Go on? [y/N] ", stage->name,
		stage->what);
	return trial_wait_fd(&r->t, STDIN_FILENO, UINT64_MAX) &&
	       read(STDIN_FILENO, answer, sizeof(answer)) > 0 && (*answer == 'y' || *answer == 'Y');
}

/* Set the findings of the GPU at hand in place of the earlier ones. */
static void note_findings(struct run *r, const struct trial_gpu *gpu)
{
	const struct gp_gpu *name = &r->gpus.items[r->t.place];
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
	json_object_array_put_idx(r->found, r->n, o);
}

static int run_stage(struct run *r, struct trial_gpu *gpu, size_t i)
{
	const struct trial_stage *stage = &trial_stages[i];
	struct trial_line *line = &gpu->stages[i];
	int64_t before;
	int ret;

	if (!may_begin(r, stage)) {
		if (!r->t.stopped)
			snprintf(line->why, sizeof(line->why), "not agreed to: --yes");
		return 0;
	}
	/* The file says no more of it if we are killed. */
	trial_set_result(line, TRIAL_INTERRUPTED);
	note_findings(r, gpu);
	ret = write_output(r, GPREEMPT_UNKNOWN);
	if (ret)
		return ret;
	ret = trial_state_write(r->hung | 1U << i);
	if (ret)
		return fail_state(ret, NEXT_STATE);
	ctl_progress("stage %zu, %s: at most %.0f s, of %" PRIu64 " s", i, stage->name,
		     stage->limit_s * r->scale, r->left_s);
	before = count_users(r);
	r->t.line = line;
	r->t.begin_ns = shr_now_ns();
	r->t.budget_ns = stage->limit_s * r->scale * NSEC_PER_SEC;
	trial_set_result(line, trial_run(&r->t, stage));
	line->time = shr_now_ns() - r->t.begin_ns;
	trial_count(gpu, TRIAL_CLEAN, 1, is_clean(r, before));
	read_log(r, gpu, line);
	r->left_s -= stage->limit_s * r->scale;
	ret = trial_state_write(r->hung);
	return ret ? fail_state(ret, NEXT_STATE) : 0;
}

/* The exit status of what was found. */
static int judge(const struct trial_gpu *gpu)
{
	int status = 0;
	size_t i;

	for (i = 0; i < TRIAL_STAGES; i++) {
		enum trial_result result = gpu->stages[i].code;

		if (result == TRIAL_FAILED || result == TRIAL_INTERRUPTED)
			return GPREEMPT_CLASS_FAILED;
		if (result == TRIAL_HUNG || result == TRIAL_LACKS)
			status = GPREEMPT_CLASS_PARTIAL;
	}
	for (i = 0; i < TRIAL_CLAIMS; i++)
		if (gpu->claims[i].held != gpu->claims[i].tried)
			return GPREEMPT_CLASS_FAILED;
	return status;
}

static int run_gpu(struct run *r, size_t place)
{
	__cleanup_list struct gpreempt_nodes *nodes = NULL;
	static struct trial_gpu gpu;
	char number[24];
	int ret = 0;
	size_t i;

	trial_begin(&gpu);
	/* gpreempt-load takes the one GPU that ROCm's runtime shows it. */
	snprintf(number, sizeof(number), "%zu", place);
	setenv("ROCR_VISIBLE_DEVICES", number, 1);
	r->t.found = &gpu;
	r->t.place = place;
	if (!gpreempt_nodes_read(r->t.g, &nodes, NULL) && place < nodes->count)
		r->t.node = nodes->nodes[place];
	for (i = 0; i < TRIAL_STAGES && !ret && !r->t.stopped; i++) {
		if (!(r->stages & 1U << i))
			continue;
		if (r->hung & 1U << i) {
			trial_set_result(&gpu.stages[i], TRIAL_HUNG);
			snprintf(gpu.stages[i].why, sizeof(gpu.stages[i].why),
				 "an earlier run did not come back from it: --again tries it");
			continue;
		}
		ret = run_stage(r, &gpu, i);
	}
	ctl_progress_end();
	if (!ret)
		ret = judge(&gpu);
	if (r->args->mode != OUT_JSON)
		print_page(&gpu, &r->gpus.items[place]);
	note_findings(r, &gpu);
	r->n++;
	for (i = 0; i < TRIAL_STAGES; i++) {
		json_object_put(gpu.stages[i].runs);
		json_object_put(gpu.stages[i].log);
	}
	return ret;
}

/* The command. */

static int prepare(struct run *r)
{
	int ret = parse_stages(r);

	if (!ret)
		ret = ctl_open(NULL, &r->t.g);
	if (!ret)
		ret = ctl_need_host(r->t.g);
	if (!ret)
		ret = choose_gpus(r);
	if (!ret)
		ret = ctl_need_root("suspend processes");
	if (!ret)
		ret = open_state(r);
	if (!ret && !r->args->dry_run)
		ret = check_users(r);
	return ret;
}

static int run_trial(void *data)
{
	struct run r = { .args = data, .lock = -1, .log = -1, .t.stop = -1 };
	int ret = prepare(&r);
	size_t i;

	if (!ret && r.args->dry_run) {
		print_plan(&r);
	} else if (!ret) {
		r.t.load = ctl_find_program("gpreempt-load", GP_LOAD, r.load);
		r.t.lab = ctl_find_program("gpreempt-lab", "gpreempt-lab", r.lab);
		r.t.stop = shr_signals_open_stop();
		r.t.snapshot = r.args->snapshot;
		r.log = klog_open();
		lseek(r.log, 0, SEEK_END);
		begin_json(&r);
		for (i = 0; i < r.gpus.count && !r.t.stopped; i++) {
			if (!shr_has(r.chosen, r.n_chosen, r.gpus.items[i].gpu_id))
				continue;
			ret = run_gpu(&r, i);
			r.status = r.n > 1 ? ctl_merge_status(r.status, ret) : ret;
		}
		if (r.t.stopped)
			r.status = ctl_fail_text(GPREEMPT_CLASS_FAILED, NULL,
						 "interrupted; nothing is held");
		ret = write_output(&r, r.status);
		ret = ret ? ret : r.status;
		out_add(r.json, "status", out_json_number(ret));
		if (r.args->mode == OUT_JSON)
			out_json_print(json_object_get(r.json));
		json_object_put(r.json);
	}
	shr_cleanup_fd(&r.t.stop);
	shr_cleanup_fd(&r.lock);
	shr_cleanup_fd(&r.log);
	free(r.chosen);
	gp_gpus_free(&r.gpus);
	gpreempt_free(r.t.g);
	return ret;
}

static const struct ctl_option options[] = {
	{ "gpu", CTL_NAME, offsetof(struct trial_args, gpu), "GPU",
	  "on this one, or on all, one after the other (the first)" },
	{ "stages", CTL_NAME, offsetof(struct trial_args, stages), "LIST",
	  "only these stages (0-3,8)" },
	{ "minutes", CTL_COUNT, offsetof(struct trial_args, minutes), "N",
	  "for each GPU: all stages are made shorter" },
	{ "dry-run", CTL_FLAG, offsetof(struct trial_args, dry_run), NULL,
	  "print what would be done" },
	{ "yes", CTL_FLAG, offsetof(struct trial_args, yes), NULL, "do not ask before a stage" },
	{ "again", CTL_FLAG, offsetof(struct trial_args, again), NULL,
	  "also stages from which an earlier run did not come back" },
	{ "shared", CTL_FLAG, offsetof(struct trial_args, shared), NULL,
	  "also on a GPU that other processes use" },
	{ "output", CTL_FILE, offsetof(struct trial_args, output), "FILE",
	  "write the JSON object to a file, too" },
	{ "snapshot", CTL_FILE, offsetof(struct trial_args, snapshot), "DIR",
	  "keep snapshots of stages 0 and 1, which have names" },
	CTL_JSON_OPTION(struct trial_args),
	{ 0 },
};

const struct ctl_command ctl_trial = {
	.name = "trial",
	.run = run_trial,
	.args_size = sizeof(struct trial_args),
	.summary = "Try in stages which claims of gpreempt hold here.",
	.details =
		"It starts programs of its own (gpreempt-load, on ROCm's runtime) and suspends\n"
		"them; no other process is suspended. Under the hardware scheduler each suspend\n"
		"takes all processes off that GPU for a moment, and a reset takes their memory:\n"
		"a GPU that another process uses is refused. --dry-run prints the stages, mild\n"
		"ones first. From 2 on each asks before it begins. A file on the disk names the\n"
		"stage that has begun: when the host had to be booted, the next run leaves that\n"
		"stage out. After Ctrl-C nothing is held. Verdicts are: holds, does not hold,\n"
		"not tried. docs/trial.md has more. Exit status 1: a stage failed, or a claim\n"
		"does not hold; 3: no GPU; 6: a stage was not possible here; 7: the GPU is in\n"
		"use.\n",
	.examples = "  gpreempt-ctl trial --dry-run\n"
		    "  gpreempt-ctl trial --stages 0-3 --output trial.json\n"
		    "  gpreempt-ctl trial --yes --minutes 20\n",
	.options = options,
};
