// SPDX-License-Identifier: LGPL-2.1-or-later
/* GPUs of a host by their names, and the processes that use them. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/core/internal.h"
#include "shared/text.h"
#include "shared/util.h"
#include "see.h"
#include "words.h"

/* Names of GPUs. */

/* Compare PCI addresses; a longer one has a higher domain. */
static int compare_devices(const char *a, const char *b)
{
	size_t x = strlen(a), y = strlen(b);

	return x != y ? (x > y) - (x < y) : strcmp(a, b);
}

static void find_place(const struct gp_gpus *gpus, size_t i, bool known)
{
	struct gp_gpu *gpu = &gpus->items[i];
	size_t j;

	gpu->index = known ? 0 : GPREEMPT_UNKNOWN;
	for (j = 0; j < gpus->count; j++) {
		int order = compare_devices(gpus->items[j].device, gpu->device);

		if (known)
			gpu->index += order < 0 || (!order && j < i);
		gpu->partition += !order && j < i;
		gpu->partitions += !order;
	}
}

int gp_gpus_name(const struct gpreempt *g, const struct gpreempt_nodes *nodes, struct gp_gpus *out)
{
	bool known = true;
	size_t i;

	*out = (struct gp_gpus){ .items = calloc(nodes->count + 1, sizeof(*out->items)) };
	if (!out->items)
		return -ENOMEM;
	out->count = nodes->count;
	for (i = 0; i < nodes->count; i++) {
		struct gp_gpu *gpu = &out->items[i];
		char node[24];
		uint64_t render;

		gpu->gpu_id = nodes->nodes[i].gpu_id;
		memcpy(gpu->device, nodes->nodes[i].device, sizeof(gpu->device));
		known &= *gpu->device != '\0';
		snprintf(node, sizeof(node), "%lld", (long long)nodes->nodes[i].node);
		gpu->render = gp_node_property(g, node, "drm_render_minor", &render) ?
				      GPREEMPT_UNKNOWN :
				      (int64_t)render;
	}
	for (i = 0; i < out->count; i++)
		find_place(out, i, known);
	return 0;
}

int gp_gpus_read(struct gpreempt *g, struct gp_gpus *out, struct gpreempt_error *err)
{
	struct gpreempt_nodes *nodes;
	int ret = gpreempt_nodes_read(g, &nodes, err);

	*out = (struct gp_gpus){ 0 };
	if (ret)
		return ret;
	ret = gp_gpus_name(g, nodes, out);
	gpreempt_list_free(nodes);
	return ret ? gp_error(err, ret, GPREEMPT_SYSTEM, 0, "reading the names of GPUs") : 0;
}

void gp_gpus_free(struct gp_gpus *gpus)
{
	free(gpus->items);
	*gpus = (struct gp_gpus){ 0 };
}

const struct gp_gpu *gp_gpus_get(const struct gp_gpus *gpus, int64_t gpu_id)
{
	size_t i;

	for (i = 0; i < gpus->count; i++)
		if (gpus->items[i].gpu_id == gpu_id)
			return &gpus->items[i];
	return NULL;
}

bool gp_gpus_are_words(const char *text)
{
	static const char render[] = "renderD";
	const char *word, *letters;

	for (;; text++) {
		letters = "0123456789abcdefABCDEFxX:.";
		if (!strncmp(text, render, strlen(render))) {
			text += strlen(render);
			letters = "0123456789";
		}
		word = text;
		text += strspn(text, letters);
		if (text == word || (*text && *text != ','))
			return false;
		if (!*text)
			return true;
	}
}

/* Is it one of the names of the GPU? A number has up to three meanings. */
static bool is_name(const struct gp_gpu *gpu, const char *word)
{
	const char *device = gpu->device, *bus = strchr(device, ':');
	unsigned long long hex;
	uint64_t number;
	char *end;

	if (strchr(word, ':'))
		return !strcasecmp(device, word) || (bus && !strcasecmp(bus + 1, word));
	if (!strncmp(word, "renderD", 7))
		return !shr_parse_u64(word + 7, INT32_MAX, &number) &&
		       (int64_t)number == gpu->render;
	if (!shr_parse_u64(word, UINT32_MAX, &number) &&
	    ((int64_t)number == gpu->index || (int64_t)number == gpu->gpu_id))
		return true;
	hex = strtoull(word, &end, 16);
	return isxdigit((unsigned char)*word) && !*end && (int64_t)hex == gpu->gpu_id;
}

int gp_gpus_find(const struct gp_gpus *gpus, const char *word, bool *chosen)
{
	size_t i, first = gpus->count;
	int ret = -ENOENT;

	for (i = 0; i < gpus->count; i++) {
		chosen[i] = is_name(&gpus->items[i], word);
		if (!chosen[i])
			continue;
		if (first == gpus->count) {
			first = i;
			ret = 0;
		} else if (!strchr(word, ':') ||
			   strcmp(gpus->items[i].device, gpus->items[first].device)) {
			ret = -EEXIST;
		}
	}
	return ret;
}

int gp_gpu_text(const struct gp_gpu *gpu, char *buf, size_t size)
{
	unsigned long long id = gpu->gpu_id;
	char render[32] = "";

	if (gpu->index == GPREEMPT_UNKNOWN)
		return snprintf(buf, size, "0x%llx", id);
	if (gpu->render != GPREEMPT_UNKNOWN)
		snprintf(render, sizeof(render), "renderD%lld, ", (long long)gpu->render);
	return snprintf(buf, size, "%lld (%s, %s0x%llx)", (long long)gpu->index, gpu->device,
			render, id);
}

bool gp_may_use_gpu(struct gpreempt *g, pid_t pid, int64_t gpu_id)
{
	uint64_t value;

	return !gp_read_number(g, &value, GP_SYSFS_PROC "/%d/vram_%lld", pid, (long long)gpu_id);
}

/* Devices. */

#define DEVICE "/sys/bus/pci/devices/%s/"

int64_t gp_device_vram_used(const struct gpreempt *g, const struct gp_gpu *gpu)
{
	uint64_t bytes;

	return *gpu->device && !gp_read_number(g, &bytes, DEVICE "mem_info_vram_used",
					       gpu->device) ?
		       (int64_t)bytes :
		       GPREEMPT_UNKNOWN;
}

/* Read the first line of a file of the device; "" without it. */
static void read_line(const struct gpreempt *g, const struct gp_gpu *gpu, const char *name,
		      char *buf, size_t size)
{
	if (gp_read_small(g, buf, size, DEVICE "%s", gpu->device, name) < 0)
		*buf = '\0';
	buf[strcspn(buf, "\n")] = '\0';
}

struct power {
	const struct gpreempt *g;
	const char *device;
	int64_t uw;
};

/* Read one of the device's monitors. Newer drivers have the power of now, others a mean. */
static int read_power(void *arg, const char *monitor)
{
	static const char *const names[] = { "power1_input", "power1_average" };
	struct power *power = arg;
	uint64_t uw;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names) && power->uw == GPREEMPT_UNKNOWN; i++)
		if (!gp_read_number(power->g, &uw, DEVICE "hwmon/%.16s/%s", power->device, monitor,
				    names[i]))
			power->uw = uw;
	return power->uw != GPREEMPT_UNKNOWN;
}

/* Read versions: files of amdgpu, and MEC's as KFD's topology has it. */
static void read_firmware(const struct gpreempt *g, const struct gp_gpu *gpu, char *buf,
			  size_t size)
{
	static const char *const names[] = { "mec", "mes", "rlc", "sdma", "smc" };
	char path[40], version[16];
	uint64_t kfd;
	size_t i, used = 0;

	if (!gp_gpu_property(g, gpu->gpu_id, "fw_version", &kfd))
		used = snprintf(buf, size, "kfd %" PRIu64, kfd);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "fw_version/%s_fw_version", names[i]);
		read_line(g, gpu, path, version, sizeof(version));
		if (*version)
			used += snprintf(buf + used, size - used, "%s%s %s", used ? "," : "",
					 names[i], version);
	}
}

void gp_device_read(struct gpreempt *g, const struct gp_gpu *gpu, struct gp_device *out)
{
	struct power power = { g, gpu->device, GPREEMPT_UNKNOWN };
	char compute[8], memory[8], path[128];
	uint64_t bytes;

	*out = (struct gp_device){ .vram_total = GPREEMPT_UNKNOWN, .power_uw = GPREEMPT_UNKNOWN };
	if (!*gpu->device)
		return;
	if (!gp_read_number(g, &bytes, DEVICE "mem_info_vram_total", gpu->device))
		out->vram_total = bytes;
	read_line(g, gpu, "product_name", out->model, sizeof(out->model));
	read_line(g, gpu, "current_compute_partition", compute, sizeof(compute));
	read_line(g, gpu, "current_memory_partition", memory, sizeof(memory));
	snprintf(out->mode, sizeof(out->mode), "%s%s%s", compute, *memory ? "/" : "", memory);
	read_firmware(g, gpu, out->firmware, sizeof(out->firmware));
	snprintf(path, sizeof(path), DEVICE "hwmon", gpu->device);
	g->ops->list_dir(g->be, path, read_power, &power);
	out->power_uw = power.uw;
}

/* The GPU processes, out of the driver's sysfs files and /proc. */

#define PROCESS(name, kind) GP_COLUMN(struct gpreempt_process, name, kind)
const struct gp_table gp_processes_table = GP_TABLE(PROCESSES, struct gpreempt_process, PROCESS);

static int count_gpu(void *arg, const char *name)
{
	struct gpreempt_process *process = arg;
	uint64_t gpu_id;

	process->gpus += gp_is_vram(name, &gpu_id);
	return 0;
}

struct counter {
	const struct gpreempt *g;
	const char *dir;
	struct gpreempt_process *process;
};

static int count_queue(void *arg, const char *name)
{
	struct counter *counter = arg;
	struct gpreempt_process *process = counter->process;

	process->queues++;
	switch (gp_sysfs_queue_type(counter->g, counter->dir, name)) {
	case GPREEMPT_QUEUE_SDMA:
		process->sdma++;
		break;
	case GPREEMPT_QUEUE_SDMA_XGMI:
		process->xgmi++;
		break;
	}
	return 0;
}

/* Escape characters that are not printable or would end a cell, as the module does. */
static void put_comm(const char *comm, char *out, size_t size)
{
	size_t used = 0;

	for (; *comm && used + 5 < size; comm++) {
		unsigned char c = *comm;

		if (strchr("._:/+@-", c) || (c < 0x80 && isalnum(c)))
			out[used++] = c;
		else
			used += sprintf(out + used, "\\%03o", c);
	}
	out[used] = '\0';
}

static bool fill(const struct gpreempt *g, const char *dir, const char *name, void *record)
{
	struct gpreempt_process *process = record;
	struct gp_process status;
	char path[64], comm[32];
	struct counter counter = { .g = g, .dir = path, .process = process };
	uint64_t pid;

	if (shr_parse_u64(name, INT32_MAX, &pid))
		return false;
	process->pid = pid;
	process->gpus = process->queues = process->sdma = process->xgmi = 0;
	gp_read_comm(g, pid, comm, sizeof(comm));
	put_comm(comm, process->comm, sizeof(process->comm));
	if (!gp_process_read(g, pid, &status))
		process->ns_pid = status.ns_pid;
	snprintf(path, sizeof(path), "%s/%.16s", dir, name);
	g->ops->list_dir(g->be, path, count_gpu, process);
	snprintf(path, sizeof(path), "%s/%.16s/queues", dir, name);
	g->ops->list_dir(g->be, path, count_queue, &counter);
	return true;
}

int gp_sysfs_processes(const struct gpreempt *g, void *records, size_t *count)
{
	return gp_table_list(g, GP_SYSFS_PROC, &gp_processes_table, fill, records, count);
}

/*
 * Files of a process that hold the driver's counts. Other files are not read: a read of
 * cu_occupancy waits for the driver's lock of its queues, which a suspend holds for up to 9 s,
 * and sdma_<gpu_id> reads memory of the process.
 */
#define GPU(name) GP_COLUMN(struct gpreempt_process_gpu, name, DEC)
static const struct gp_column gpu_columns[] = { GPU(gpu_id) GPU(vram) GPU(evicted_ms) };

static const struct gp_table gpus_table = {
	.columns = gpu_columns,
	.n_columns = ARRAY_SIZE(gpu_columns),
	.record_size = sizeof(struct gpreempt_process_gpu),
};

static bool fill_gpu(const struct gpreempt *g, const char *dir, const char *name, void *record)
{
	struct gpreempt_process_gpu *gpu = record;
	uint64_t gpu_id;

	(void)g;
	(void)dir;
	if (!gp_is_vram(name, &gpu_id))
		return false;
	gpu->gpu_id = gpu_id;
	return true;
}

static void read_figures(const struct gpreempt *g, const char *dir, unsigned int figures,
			 struct gpreempt_process_gpu *gpu)
{
	unsigned long long id = gpu->gpu_id;
	uint64_t value;

	if (figures & GPREEMPT_FIGURE_VRAM && !gp_read_number(g, &value, "%s/vram_%llu", dir, id))
		gpu->vram = value;
	if (figures & GPREEMPT_FIGURE_EVICTED &&
	    !gp_read_number(g, &value, "%s/stats_%llu/evicted_ms", dir, id))
		gpu->evicted_ms = value;
}

void gp_process_gpu_read(const struct gpreempt *g, pid_t pid, unsigned int figures,
			 struct gpreempt_process_gpu *gpu)
{
	char dir[GP_PID_PATH];

	gpu->vram = gpu->evicted_ms = GPREEMPT_UNKNOWN;
	snprintf(dir, sizeof(dir), GP_SYSFS_PROC "/%d", pid);
	read_figures(g, dir, figures, gpu);
}

int gp_process_gpus_read(struct gpreempt *g, pid_t pid, unsigned int figures,
			 struct gpreempt_process_gpus **out, struct gpreempt_error *err)
{
	static const char step[] = "reading what it uses of the GPUs";
	struct gpreempt_process_gpus *list = calloc(1, sizeof(*list));
	char path[GP_PID_PATH];
	size_t i;
	int ret;

	if (!list)
		return gp_error(err, -ENOMEM, GPREEMPT_SYSTEM, pid, step);
	snprintf(path, sizeof(path), GP_SYSFS_PROC "/%d", pid);
	ret = gp_table_list(g, path, &gpus_table, fill_gpu, &list->gpus, &list->count);
	for (i = 0; !ret && i < list->count; i++)
		read_figures(g, path, figures, &list->gpus[i]);
	if (ret)
		ret = gp_fail_view(g, ret, pid, step, err);
	return gp_list_give(ret, list, out);
}

GP_LIST(struct gpreempt_process_gpus, gpus);

/* Identity of a process, from files of /proc that all can read, and whether it uses the GPU. */

enum { STATE, TGID, TRACER, UID, NS_PID, THREADS, N_KEYS };

static const char *const keys[N_KEYS] = {
	[STATE] = "State:\t", [TGID] = "Tgid:\t",    [TRACER] = "TracerPid:\t",
	[UID] = "Uid:\t",     [NS_PID] = "NSpid:\t", [THREADS] = "Threads:\t",
};

/* Find the key of a line of /proc/<pid>/status. Most lines have none: two letters decide. */
static int find_key(const char *line)
{
	int i = 0;

	while (i < N_KEYS && (keys[i][0] != line[0] || keys[i][1] != line[1] ||
			      strncmp(line, keys[i], strlen(keys[i]))))
		i++;
	return i;
}

/* The last number of a line. */
static int64_t last_number(const char *line)
{
	const char *end = strchrnul(line, '\n');

	while (end > line && end[-1] != '\t')
		end--;
	return strtoll(end, NULL, 10);
}

static void take_status(const char *line, struct gp_process *out)
{
	int key = find_key(line);
	const char *value = key < N_KEYS ? line + strlen(keys[key]) : NULL;

	switch (key) {
	case STATE:
		out->state = *value;
		break;
	case TGID:
		out->tgid = strtoul(value, NULL, 10);
		break;
	case TRACER:
		out->tracer = strtoul(value, NULL, 10);
		break;
	case UID:
		out->uid = strtoul(value, NULL, 10);
		break;
	case NS_PID:
		out->ns_pid = last_number(value);
		break;
	case THREADS:
		out->threads = strtoul(value, NULL, 10);
		break;
	}
}

int gp_process_read(const struct gpreempt *g, pid_t pid, struct gp_process *out)
{
	char text[8192];
	const char *at;
	ssize_t n;

	n = gp_read_proc(g, pid, "status", text, sizeof(text));
	if (n < 0)
		return n;
	/* A process without a user in the text is not root's. */
	*out = (struct gp_process){ .uid = -1, .ns_pid = GPREEMPT_UNKNOWN };
	/* The name comes first and holds no newline: the kernel escapes it. */
	for (at = strchr(text, '\n'); at; at = strchr(at, '\n'))
		take_status(++at, out);
	return out->state ? 0 : -EPROTO;
}

/* Numbers of /proc/<pid>/stat. */
struct stat_line {
	char state;
	uint64_t threads;
	uint64_t start;
};

static int read_stat(const struct gpreempt *g, pid_t pid, struct stat_line *out)
{
	char text[1024], *at;
	int field;
	ssize_t n;

	n = gp_read_proc(g, pid, "stat", text, sizeof(text));
	if (n < 0)
		return n;
	/* The name, field 2, may hold anything; it ends at the last ")". */
	at = strrchr(text, ')');
	for (field = 2; at && field < 22; field++) {
		at = strchr(at + 1, ' ');
		if (at && field == 2)
			out->state = at[1];
		else if (at && field == 19)
			out->threads = strtoull(at + 1, NULL, 10);
	}
	if (!at)
		return -EPROTO;
	out->start = strtoull(at + 1, NULL, 10);
	return 0;
}

bool gp_has_ended(const struct gpreempt *g, pid_t pid, uint64_t *start)
{
	struct stat_line line;
	int ret = read_stat(g, pid, &line);

	*start = ret ? 0 : line.start;
	if (!ret)
		return strchr("ZX", line.state) && line.threads <= 1;
	if (g->saved)
		return ret == -ENOENT;
	ret = g->ops->open_process(g->be, pid);
	if (ret >= 0)
		close(ret);
	return ret == -ESRCH;
}

int gpreempt_start_time(struct gpreempt *g, pid_t pid, uint64_t *ticks)
{
	struct stat_line line;
	int ret = read_stat(g, pid, &line);

	if (ret)
		return ret == -ENOENT ? -ESRCH : ret;
	*ticks = line.start;
	return 0;
}

/* Is the directory there? Only its absence is a no: another failure is not the target's. */
static bool have_dir(struct gpreempt *g, const char *path)
{
	return gp_look_in(g, path) != -ENOENT;
}

int gp_target_exists(struct gpreempt *g, pid_t pid, const char *step, struct gpreempt_error *err)
{
	struct gp_process process;
	char path[64];

	if (!have_dir(g, GP_SYSFS_PROC))
		return gp_error(err, -ENODEV, GPREEMPT_NO_KFD, pid, step);
	if (gp_process_read(g, pid, &process))
		return gp_error(err, -ESRCH, GPREEMPT_NO_PROCESS, pid, step);
	if (process.tgid != pid) {
		gp_error(err, -ESRCH, GPREEMPT_THREAD, pid, step);
		if (err)
			err->other = process.tgid;
		return -ESRCH;
	}
	snprintf(path, sizeof(path), GP_SYSFS_PROC "/%d/queues", pid);
	if (!have_dir(g, path))
		return gp_error(err, -ENODATA, GPREEMPT_NOT_GPU, pid, step);
	return 0;
}

void gp_read_comm(const struct gpreempt *g, pid_t pid, char *buf, size_t size)
{
	if (gp_read_proc(g, pid, "comm", buf, size) < 0)
		*buf = '\0';
	buf[strcspn(buf, "\n")] = '\0';
}

ssize_t gp_read_command(const struct gpreempt *g, pid_t pid, char *buf, size_t size)
{
	ssize_t i, n;

	n = gp_read_proc(g, pid, "cmdline", buf, size);
	while (n > 0 && !buf[n - 1])
		n--;
	for (i = 0; i < n; i++)
		if (!buf[i])
			buf[i] = ' ';
	buf[n > 0 ? n : 0] = '\0';
	return n;
}

int gp_identify(struct gpreempt *g, pid_t pid, struct gpreempt_description *out)
{
	struct gp_process process;
	int ret;

	ret = gpreempt_start_time(g, pid, &out->start);
	if (ret)
		return ret == -ENOENT ? -ESRCH : ret;
	ret = gp_process_read(g, pid, &process);
	if (ret)
		return ret == -EPROTO ? ret : -ESRCH;
	out->ns_pid = process.ns_pid == GPREEMPT_UNKNOWN ? pid : process.ns_pid;
	out->uid = process.uid;
	out->tracer = process.tracer;
	out->tracer_comm[0] = '\0';
	if (out->tracer)
		gp_read_comm(g, out->tracer, out->tracer_comm, sizeof(out->tracer_comm));
	gp_read_comm(g, pid, out->comm, sizeof(out->comm));
	out->command[0] = '\0';
	return 0;
}

int gpreempt_describe(struct gpreempt *g, pid_t pid, struct gpreempt_description *out)
{
	int ret = gp_identify(g, pid, out);

	if (!ret)
		gp_read_command(g, pid, out->command, sizeof(out->command));
	return ret;
}

/* Can a session on a process be opened? */

/* Inode numbers of the host's namespaces, the same on every kernel. */
static const struct {
	const char *path, *host;
} namespaces[] = {
	{ "/proc/self/ns/pid", "pid:[4026531836]" },
	/* Start times of processes are those of the reader's namespace. */
	{ "/proc/self/ns/time", "time:[4026531834]" },
};

int gp_check_host(struct gpreempt *g, pid_t pid, const char *step, struct gpreempt_error *err)
{
	char ns[64];
	ssize_t n;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(namespaces); i++) {
		n = g->ops->read_link(g->be, namespaces[i].path, ns, sizeof(ns) - 1);
		if (n <= 0)
			continue;
		ns[n] = '\0';
		if (strcmp(ns, namespaces[i].host))
			return gp_error(err, -ENOTSUP, GPREEMPT_PID_NAMESPACE, pid, step);
	}
	/* read_link() gives -EINVAL for a file that is there and is no link. */
	if (g->ops->read_link(g->be, "/dev/kfd", ns, sizeof(ns)) == -ENOENT)
		return gp_error(err, -ENOENT, GPREEMPT_NO_KFD, pid, step);
	return 0;
}

static int check_traced(struct gpreempt *g, pid_t pid, pid_t tracer, const char *step,
			struct gpreempt_error *err)
{
	struct gp_process process;

	if (!tracer)
		return 0;
	gp_error(err, -EBUSY, GPREEMPT_TRACED, pid, step);
	if (!err)
		return -EBUSY;
	/* A thread traces; users know it by its process. */
	if (!gp_process_read(g, tracer, &process))
		tracer = process.tgid;
	err->other = tracer;
	gp_read_comm(g, tracer, err->name, sizeof(err->name));
	return -EBUSY;
}

int gp_check_traceable(struct gpreempt *g, pid_t pid, const char *step, struct gpreempt_error *err)
{
	struct gp_process process;
	int ret;

	ret = gp_process_read(g, pid, &process);
	if (ret)
		return gp_error(err, -ESRCH, GPREEMPT_NO_PROCESS, pid, step);
	if (strchr("ZX", process.state))
		return process.threads > 1 ?
			       gp_error(err, -ENOTSUP, GPREEMPT_LEADER_GONE, pid, step) :
			       gp_error(err, -ESRCH, GPREEMPT_ENDED, pid, step);
	return check_traced(g, pid, process.tracer, step, err);
}

int gpreempt_check(struct gpreempt *g, pid_t pid, struct gpreempt_error *err)
{
	static const char step[] = "looking at the process";
	int ret;

	if (!g->ops->is_root(g->be))
		return gp_error(err, -EPERM, GPREEMPT_NOT_ROOT, pid, step);
	ret = gp_check_host(g, pid, step, err);
	if (!ret)
		ret = gp_target_exists(g, pid, step, err);
	if (!ret)
		ret = gp_check_traceable(g, pid, step, err);
	return ret ? ret : gp_check_gpus(g, pid, step, err);
}

/* Processes that have a descriptor of KFD. */

static int add_pid(void *arg, const char *name)
{
	struct gp_pids *pids = arg;
	uint64_t number;
	pid_t *pid;

	if (shr_parse_u64(name, INT32_MAX, &number))
		return 0;
	pid = shr_add(pids);
	if (!pid)
		return -ENOMEM;
	*pid = number;
	return 0;
}

int gp_all_pids(struct gpreempt *g, struct gp_pids *out)
{
	int ret;

	*out = (struct gp_pids){ 0 };
	ret = g->ops->list_dir(g->be, "/proc", add_pid, out);
	if (ret) {
		free(out->items);
		*out = (struct gp_pids){ 0 };
	}
	return ret;
}

struct look {
	struct gpreempt *g;
	pid_t pid;
	uint64_t kfd;
	int denied; /* -errno of a descriptor that was not looked at */
};

static int is_kfd(void *arg, const char *name)
{
	struct look *look = arg;
	char path[GP_PID_PATH], file[32];
	uint64_t device;
	int ret;

	snprintf(file, sizeof(file), "fd/%.16s", name);
	gp_pid_path(path, "/proc", look->pid, file);
	ret = look->g->ops->device_of(look->g->be, path, &device);
	if (ret == -EACCES || ret == -EPERM)
		look->denied = ret;
	return !ret && device == look->kfd;
}

int gp_has_kfd_open(struct gpreempt *g, pid_t pid)
{
	struct look look = { .g = g, .pid = pid };
	char path[GP_PID_PATH];
	int ret = g->ops->device_of(g->be, "/dev/kfd", &look.kfd);

	if (ret)
		return ret;
	gp_pid_path(path, "/proc", pid, "fd");
	ret = g->ops->list_dir(g->be, path, is_kfd, &look);
	/* The process has ended. */
	if (ret == -ENOENT || ret == -ESRCH)
		return 0;
	return ret ? ret : look.denied;
}
