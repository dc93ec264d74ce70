// SPDX-License-Identifier: GPL-2.0-only
/* PIDs of a process: here, in its own namespace, and in the text of rocm-smi --showpids. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <gpreempt/select.h>

#include "hold/targets.h"
#include "ctl/figures.h"
#include "load.h"
#include "cli/table.h"
#include "shared/text.h"
#include "shared/util.h"

/* The members are the keys of JSON. */
struct pidmap_row {
	int64_t pid;
	int64_t ns_pid;
	char pids[512]; /* in each namespace, from the host's inwards */
	char container[32];
	const char *name;
	const char *comm;
	const char *command;
};

#define FIELD(member, title, what, ...) \
	OUT_FIELD(struct pidmap_row, member, title, what, __VA_ARGS__)

static const struct out_field fields[] = {
	FIELD(pid, "PID", OUT_DEC),
	FIELD(ns_pid, "INSIDE", OUT_DEC),
	FIELD(pids, NULL, OUT_LIST, .array = true),
	FIELD(container, "CONTAINER", OUT_TEXT, .array = true),
	FIELD(name, "NAME", OUT_TEXT, .rank = 1),
	FIELD(comm, "COMM", OUT_TEXT, .rank = 2),
	FIELD(command, "COMMAND", OUT_TEXT, .cut = true),
};

static const struct out_table table = OUT_TABLE("processes", fields, struct pidmap_row);

/* "NSpid:\t4242\t17" as "4242,17". */
static void read_numbers(struct pidmap_row *row)
{
	char path[64], *all, *at;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/status", row->pid);
	all = ctl_read_file(path, &len);
	at = all ? strstr(all, "\nNSpid:\t") : NULL;
	if (at) {
		at += strlen("\nNSpid:\t");
		snprintf(row->pids, sizeof(row->pids), "%.*s", (int)strcspn(at, "\n"), at);
		for (at = row->pids; *at; at++)
			if (*at == '\t')
				*at = ',';
	}
	free(all);
}

static void fill(const struct ctl_process *p, struct pidmap_row *row)
{
	const struct gp_container *box = &p->place.in;

	*row = (struct pidmap_row){
		.pid = p->pid,
		.ns_pid = p->ns_pid == GPREEMPT_UNKNOWN && !p->ended ? p->pid : p->ns_pid,
		.name = box->name,
		.comm = p->comm,
		.command = p->command,
	};
	read_numbers(row);
	if (*box->id)
		snprintf(row->container, sizeof(row->container), "%s:%.*s", box->engine,
			 CTL_ID_SHOWN, box->id);
}

/* A number, which is decimal; what is none, as rocm-smi's UNKNOWN, is unknown. */
static int64_t number_of(const char *word)
{
	uint64_t number;

	return shr_parse_u64(word, INT64_MAX, &number) ? GPREEMPT_UNKNOWN : (int64_t)number;
}

struct pidmap_args {
	struct ctl_words words;
	const char *smi;
	const char *from;
	struct out_form form;
};

/*
 * Are the words about this process? No words: all GPU processes. A number is looked for on both
 * sides: it may be a container's.
 */
static bool wanted(const struct pidmap_args *args, const struct pidmap_row *row,
		   const struct gpreempt_targets *chosen)
{
	int64_t number;
	size_t i;

	if (!args->words.n)
		return true;
	for (i = 0; i < args->words.n; i++) {
		number = number_of(args->words.word[i]);
		if (number != GPREEMPT_UNKNOWN && (row->pid == number || row->ns_pid == number))
			return true;
	}
	for (i = 0; chosen && i < chosen->count; i++)
		if (chosen->targets[i].pid == row->pid)
			return true;
	return false;
}

/* Select by the words that are no numbers. 0, or the exit status. */
static int choose(struct gpreempt *g, const struct pidmap_args *args, struct gpreempt_targets **out)
{
	const char **words = shr_must(calloc(args->words.n + 1, sizeof(*words)));
	struct find f = { .g = g };
	struct gpreempt_error err;
	size_t i, n = 0;
	int ret = 0;

	for (i = 0; i < args->words.n; i++)
		if (number_of(args->words.word[i]) == GPREEMPT_UNKNOWN)
			words[n++] = args->words.word[i];
	if (n && find_targets(&f, words, n, out, &err))
		ret = ctl_fail(&err);
	find_free(&f);
	free(words);
	return ret;
}

static int print(const struct pidmap_args *args, const struct gp_figures *f,
		 const struct gpreempt_targets *chosen)
{
	struct pidmap_row *rows = shr_must(calloc(f->processes.count + 1, sizeof(*rows)));
	size_t i, n = 0;

	for (i = 0; i < f->processes.count; i++) {
		if (f->processes.items[i].holder)
			continue;
		fill(&f->processes.items[i], rows + n);
		n += wanted(args, rows + n, chosen);
	}
	if (n || !args->words.n)
		out_print(&args->form, &table, rows, n);
	free(rows);
	if (n || !args->words.n)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_NO_TARGET,
			     "gpreempt-lab pidmap shows all GPU processes",
			     "no GPU process has that number, "
			     "here or inside of a container");
}

/*
 * The text of rocm-smi --showpids and --showpidgpus, as in ROCm/ROC-smi issue 60, rocm_smi_lib
 * issue 166 and rocm-systems issue 4405: its GPU(s) is how many GPUs a process uses, not which.
 * Which these are, the driver's text of its queues says.
 */

/* The members are the keys of JSON. */
struct smi_row {
	int64_t pid;
	char name[64];
	int64_t gpus;
	char *gpu_indexes; /* rocm-smi's own */
	int64_t vram_bytes;
	int64_t cu_occupancy;
	int64_t queues;
	char *kfd_gpu_ids;
};

#define SMI(member, title, what, ...) OUT_FIELD(struct smi_row, member, title, what, __VA_ARGS__)

static const struct out_field smi_fields[] = {
	SMI(pid, "PID", OUT_DEC),	  SMI(name, "NAME", OUT_TEXT, .array = true),
	SMI(gpus, "GPUS", OUT_DEC),	  SMI(gpu_indexes, "SMI GPU", OUT_LIST),
	SMI(vram_bytes, "VRAM", OUT_DEC), SMI(cu_occupancy, "CUS", OUT_DEC),
	SMI(queues, "QUEUES", OUT_DEC),	  SMI(kfd_gpu_ids, "KFD-ID", OUT_LIST),
};

static const struct out_table smi_table = OUT_TABLE("showpids", smi_fields, struct smi_row);

struct smi {
	SHR_ARRAY(struct smi_row, rows);
	size_t columns;	 /* behind the name in the table at hand; 0: in none */
	int64_t indexes; /* PID whose indexes are the next line, or unknown */
	size_t known;	 /* lines that are rocm-smi's */
	size_t bad;	 /* lines of its table that could not be read */
};

static struct smi_row *smi_add(struct smi *smi, int64_t pid)
{
	struct smi_row *row = shr_must(shr_add(&smi->rows));

	row->pid = pid;
	row->gpus = row->vram_bytes = row->cu_occupancy = row->queues = GPREEMPT_UNKNOWN;
	return row;
}

/* "1168514 pt_main_thread  1  177386942464  0  4": the name may have blanks. */
static void smi_process(struct smi *smi, int64_t pid, char **words, size_t n)
{
	struct smi_row *row;
	size_t i, len = 0;

	if (pid < 0 || n < smi->columns + 2) {
		smi->bad++;
		return;
	}
	row = smi_add(smi, pid);
	for (i = 1; i < n - smi->columns && len < sizeof(row->name); i++)
		len += snprintf(row->name + len, sizeof(row->name) - len, "%s%s", i > 1 ? " " : "",
				words[i]);
	words += n - smi->columns;
	row->gpus = number_of(words[0]);
	if (smi->columns > 1)
		row->vram_bytes = number_of(words[1]);
	if (smi->columns > 3)
		row->cu_occupancy = number_of(words[3]);
}

/* Take "PID 4711 is using 2 DRM device(s):", whose next line has their indexes. */
static void smi_devices(struct smi *smi, int64_t pid, int64_t gpus)
{
	size_t i = 0;

	while (i < smi->rows.count && smi->rows.items[i].pid != pid)
		i++;
	if (i == smi->rows.count)
		smi_add(smi, pid)->gpus = gpus;
	smi->indexes = gpus > 0 ? pid : GPREEMPT_UNKNOWN;
}

static void smi_indexes(struct smi *smi, char **words, size_t n)
{
	size_t i, j;

	for (i = 0; i < smi->rows.count; i++)
		for (j = 0; j < n && smi->rows.items[i].pid == smi->indexes; j++)
			if (number_of(words[j]) >= 0)
				text_append(&smi->rows.items[i].gpu_indexes, "%s", words[j]);
	smi->indexes = GPREEMPT_UNKNOWN;
}

#define SMI_WORDS 32 /* in a line; a name has 15 bytes */

static void smi_line(struct smi *smi, char *line)
{
	char *words[SMI_WORDS], *save, *word = strtok_r(line, " \t\r>", &save);
	size_t n = 0, i, columns = 0;

	for (; word && n < SMI_WORDS; word = strtok_r(NULL, " \t\r", &save))
		words[n++] = word;
	if (smi->indexes != GPREEMPT_UNKNOWN) {
		smi_indexes(smi, words, n);
	} else if (!n || *words[0] == '=') {
		smi->columns = 0;
		return;
	} else if (n > 3 && !strcmp(words[0], "PID") && !strcmp(words[1], "PROCESS")) {
		for (i = 3; i < n; i++)
			columns += strcmp(words[i], "USED") && strcmp(words[i], "OCCUPANCY");
		smi->columns = columns;
	} else if (n > 5 && !strcmp(words[0], "PID") && !strcmp(words[5], "DRM")) {
		smi_devices(smi, number_of(words[1]), number_of(words[4]));
	} else if (smi->columns && isdigit((unsigned char)*words[0])) {
		smi_process(smi, number_of(words[0]), words, n);
	} else if (strcmp(words[0], "No") || n < 3 || strcmp(words[2], "PIDs")) {
		return;
	}
	smi->known++;
}

static bool has_id(const char *list, const char *id)
{
	size_t len = strlen(id);

	for (; list && (list = strstr(list, id)); list += len)
		if (!list[len] || list[len] == ',')
			return true;
	return false;
}

/* Find the queues of each process in the driver's text, and their GPUs. */
static void smi_join(struct smi *smi, const struct ctl_text *text)
{
	const struct gp_text_data *d = text->data;
	struct smi_row *row = smi->rows.items;
	char id[32];
	size_t i, j;

	if (!d->mqds_seen || d->several_moments)
		return;
	for (i = 0; i < smi->rows.count; i++, row++) {
		row->queues = 0;
		for (j = 0; j < d->n_queues; j++) {
			if (d->queues[j].pid != row->pid)
				continue;
			row->queues++;
			snprintf(id, sizeof(id), "0x%" PRIx64, d->queues[j].gpu_id);
			if (!has_id(row->kfd_gpu_ids, id))
				text_append(&row->kfd_gpu_ids, "%s", id);
		}
	}
}

static int smi_print(const struct pidmap_args *args, struct smi *smi)
{
	if (!smi->known)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, "rocm-smi --showpids > FILE makes one",
				     "%s: no line of it is what rocm-smi prints with "
				     "--showpids or --showpidgpus",
				     args->smi);
	out_rows(args->form.mode, &smi_table, smi->rows.items, smi->rows.count);
	if (!args->from)
		ctl_note("on which GPUs their queues are is not known: --from DIR, a snapshot of "
			 "that moment, or /sys/kernel/debug/kfd of that host");
	if (smi->bad)
		ctl_note("%zu lines of the table could not be read", smi->bad);
	return smi->bad ? GPREEMPT_CLASS_PARTIAL : 0;
}

/* Show a text of rocm-smi, beside the queues of a snapshot. The exit status. */
static int run_smi(const struct pidmap_args *args)
{
	struct smi smi = { .indexes = GPREEMPT_UNKNOWN };
	size_t len, i;
	char *all = text_read(args->smi, &len), *next, *line;
	struct ctl_text text;
	int ret = 0;

	if (!all)
		return text_fail(args->smi, -errno);
	for (next = all; (line = strsep(&next, "\n"));)
		smi_line(&smi, line);
	if (args->from)
		ret = ctl_text_files(&args->from, 1, &text);
	if (args->from && !ret) {
		smi_join(&smi, &text);
		ctl_text_free(&text);
	}
	if (!ret)
		ret = smi_print(args, &smi);
	for (i = 0; i < smi.rows.count; i++) {
		free(smi.rows.items[i].gpu_indexes);
		free(smi.rows.items[i].kfd_gpu_ids);
	}
	free(smi.rows.items);
	free(all);
	return ret;
}

static int run_pidmap(void *data)
{
	const struct pidmap_args *args = data;
	struct gpreempt_targets *chosen = NULL;
	struct gpreempt_error err;
	struct gpreempt *g = NULL;
	struct ctl_sampler s;
	int ret;

	if (args->smi && args->words.n)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, NULL, "--showpids takes no TARGET");
	if (args->smi)
		return run_smi(args);
	if (args->from)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, NULL, "--from needs --showpids");
	ret = ctl_open(NULL, &g);
	if (!ret)
		ret = ctl_need_host(g);
	ctl_sampler_init(&s, g, 0);
	if (!ret)
		ret = choose(g, args, &chosen);
	if (!ret && ctl_sampler_who(&s, &err))
		ret = ctl_fail(&err);
	if (!ret)
		ret = print(args, &s.figures, chosen);
	ctl_sampler_clear(&s);
	gpreempt_list_free(chosen);
	gpreempt_free(g);
	return ret;
}

static const struct ctl_option options[] = {
	{ "showpids", CTL_FILE, offsetof(struct pidmap_args, smi), "FILE",
	  "processes in a text of rocm-smi --showpids (-: stdin)" },
	{ "from", CTL_FILE, offsetof(struct pidmap_args, from), "DIR",
	  "with --showpids: their queues and GPUs in this snapshot" },
	CTL_TABLE_OPTIONS(struct pidmap_args),
	{ 0 },
};

const struct ctl_command ctl_pidmap = {
	.name = "pidmap",
	.run = run_pidmap,
	.args_size = sizeof(struct pidmap_args),
	.words = CTL_TARGETS,
	.words_at = offsetof(struct pidmap_args, words),
	.usage = "[TARGET]",
	.summary = "Show the PIDs of GPU processes on the host and inside.",
	.details = "A PID is looked up on both sides: as on the host, and as in the container,\n"
		   "which is what ROCm's log and programs print.\n"
		   "rocm-smi --showpids prints how many GPUs a process uses, not which: with\n"
		   "--showpids FILE its processes are shown beside the queues that a snapshot, or\n"
		   "a copy of the driver's mqds, has of them. FILE may have --showpidgpus, too.\n",
	.examples = "  gpreempt-lab pidmap comm:train\n"
		    "  gpreempt-lab pidmap -o pid,ns_pid,container --sort container\n",
	.table = &table,
	.options = options,
};
