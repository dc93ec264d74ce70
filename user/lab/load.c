// SPDX-License-Identifier: GPL-2.0-only
/* Texts of the driver with the ids of their queues: from the system, files and snapshots. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "lib/see/words.h"
#include "shared/text.h"
#include "shared/util.h"
#include "load.h"

static void ctl_add_id(struct ctl_text *out, int64_t pid, int64_t gpu_id, int64_t qid)
{
	struct ctl_id *id = shr_must(shr_array_add(&out->ids, &out->n_ids, sizeof(*id)));

	*id = (struct ctl_id){ pid, gpu_id, qid };
}

static int compare_ids(const void *a, const void *b)
{
	const struct ctl_id *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->gpu_id != y->gpu_id)
		return x->gpu_id < y->gpu_id ? -1 : 1;
	return (x->qid > y->qid) - (x->qid < y->qid);
}

/* Add the ids of the older text, which has them itself, and sort all. */
static void ctl_finish_ids(struct ctl_text *out)
{
	size_t i, kept = 0;

	for (i = 0; i < out->data->n_queues; i++)
		if (out->data->queues[i].older && out->data->queues[i].qid != GPREEMPT_UNKNOWN)
			ctl_add_id(out, out->data->queues[i].pid, out->data->queues[i].gpu_id,
				   out->data->queues[i].qid);
	if (!out->n_ids)
		return;
	qsort(out->ids, out->n_ids, sizeof(*out->ids), compare_ids);
	for (i = 1; i < out->n_ids; i++)
		if (compare_ids(out->ids + kept, out->ids + i))
			out->ids[++kept] = out->ids[i];
	out->n_ids = kept + 1;
}

bool ids_is_csv(const char *begin, size_t len)
{
	return len >= IDS_CSV_BEGIN && !memcmp(begin, "t_s,", IDS_CSV_BEGIN);
}

/* The next cell of a line, without its quotes; NULL at the end. */
static char *next_cell(char **line)
{
	char *cell = *line, *end;

	if (!cell)
		return NULL;
	if (*cell == '"') {
		end = strchr(++cell, '"');
		if (!end)
			return *line = NULL;
		*end++ = '\0';
	} else {
		end = cell + strcspn(cell, ",");
	}
	*line = *end == ',' ? end + 1 : NULL;
	*end = '\0';
	return cell;
}

struct columns {
	int pid, ids, count;
};

static struct columns find_columns(char *line)
{
	struct columns at = { -1, -1, 0 };
	char *cell;

	for (; (cell = next_cell(&line)); at.count++) {
		if (!strcmp(cell, "pid"))
			at.pid = at.count;
		if (!strcmp(cell, "ids"))
			at.ids = at.count;
	}
	return at;
}

/* "0,1,5", or "-" for none. */
static int read_ids(struct ctl_text *out, int64_t pid, char *ids)
{
	uint64_t id;
	char *word;

	if (!strcmp(ids, "-"))
		return 0;
	while ((word = next_cell(&ids))) {
		if (shr_parse_u64(word, UINT32_MAX, &id))
			return -EINVAL;
		ctl_add_id(out, pid, GPREEMPT_UNKNOWN, id);
	}
	return 0;
}

static int read_row(struct ctl_text *out, char *line, const struct columns *at)
{
	char *cell, *ids = NULL;
	const char *pid = NULL;
	uint64_t number;
	int i;

	for (i = 0; (cell = next_cell(&line)); i++) {
		if (i == at->pid)
			pid = cell;
		if (i == at->ids)
			ids = cell;
	}
	if (i != at->count || shr_parse_u64(pid, INT32_MAX, &number))
		return -EINVAL;
	return read_ids(out, number, ids);
}

/* A line without its end; NULL: the text has ended. */
static char *next_line(char **text, bool *whole)
{
	char *line = *text, *end;

	if (!*line)
		return NULL;
	end = line + strcspn(line, "\n");
	*whole = *end;
	*text = end + *whole;
	*end = '\0';
	if (end > line && end[-1] == '\r')
		end[-1] = '\0';
	return line;
}

int ids_read_csv(struct ctl_text *out, char *text, struct ids_problems *bad)
{
	struct columns at;
	uint64_t number = 1;
	bool whole;
	char *line = next_line(&text, &whole);

	*bad = (struct ids_problems){ 0 };
	out->all_ids = true;
	at = find_columns(line);
	if (at.pid < 0 || at.ids < 0)
		return -EINVAL;
	while ((line = next_line(&text, &whole))) {
		number++;
		/* An id at the end of the file may be cut, and is then another id. */
		if ((!whole || read_row(out, line, &at)) && !bad->count++)
			bad->first = number;
	}
	return 0;
}

void ids_read_sysfs(struct ctl_text *out, char *text)
{
	long long pid, qid, gpu_id;
	bool whole;
	char *line;

	while ((line = next_line(&text, &whole)))
		if (sscanf(line, "%lld %lld %llx", &pid, &qid, &gpu_id) == 3)
			ctl_add_id(out, pid, gpu_id, qid);
}

/* Files that are read into a text without a join; a file that is no text is refused. */

#define CHUNK (64 * 1024)

static void note_file(struct ctl_text *out, const char *name)
{
	char **file = shr_must(shr_array_add(&out->files, &out->n_files, sizeof(*file)));

	*file = shr_must(strdup(name));
}

/* Feed the bytes that were read already, and the rest. */
static int feed(struct ctl_text *out, int fd, const char *begin, size_t have)
{
	static char chunk[CHUNK];
	ssize_t len;

	gp_text_feed(out->text, begin, have);
	while ((len = read(fd, chunk, sizeof(chunk))) > 0)
		gp_text_feed(out->text, chunk, len);
	gp_text_end(out->text);
	return len < 0 ? -errno : 0;
}

static int feed_csv(struct ctl_text *out, const char *path, int fd, const char *begin, size_t have)
{
	struct ids_problems bad;
	char *rest, *all;
	ssize_t len = text_read_all(fd, TEXT_FILE_MAX, &rest);
	int ret;

	if (len < 0)
		return len;
	all = shr_must(malloc(have + len + 1));
	memcpy(all, begin, have);
	memcpy(all + have, rest, len + 1);
	ret = ids_read_csv(out, all, &bad);
	if (ret)
		ctl_note("%s: it begins as monitor --csv does, but has no "
			 "columns pid and ids",
			 path);
	if (bad.count)
		ctl_note("%s: %" PRIu64 " lines could not be read, the first "
			 "is line %" PRIu64,
			 path, bad.count, bad.first);
	out->bad_lines += bad.count;
	free(rest);
	free(all);
	return ret;
}

/* Is the line a head of the driver's with something before it? */
static bool has_prefix(const char *line, const char *end)
{
	const char *at;

	for (at = line + 1; at < end; at++)
		if (!isalnum((unsigned char)at[-1]) && gp_text_is_head(at, end - at))
			return true;
	return false;
}

/* Guess by lines: text with something before each line is a frequent mistake. */
static const char *guess_from_lines(const char *begin, size_t len)
{
	const char *line = begin, *stop = begin + len, *end;
	size_t heads = 0, others = 0;

	for (; line < stop; line = end + 1) {
		end = memchr(line, '\n', stop - line) ?: stop;
		if (has_prefix(line, end))
			heads++;
		else if (end > line && !isxdigit((unsigned char)end[-1]))
			others++;
	}
	if (heads && heads >= others)
		return "there is something before each line, as of dmesg, journalctl, grep or "
		       "cat -n: take it away";
	return "they are files of /sys/kernel/debug/kfd; a log of ROCm is for gpreempt-lab amdlog";
}

static int fail_other(const char *path, const char *begin, size_t len)
{
	const struct text_guess *guess = text_guess(begin, len);

	if (guess)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, guess->next,
				     "%s: %s, not the driver's text", path, guess->what);
	return ctl_fail_text(GPREEMPT_CLASS_FAILED, guess_from_lines(begin, len),
			     "%s: no line of it is what the driver prints in "
			     "mqds, hqds or rls",
			     path);
}

/*
 * Feed a file that was opened, or could not be, and close it. It is read only once from its begin
 * on: it may be a pipe. The first word shows a file of monitor --csv.
 */
static int text_feed_fd(struct ctl_text *out, const char *path, int fd)
{
	__cleanup_fd int opened = fd;
	static char begin[CHUNK];
	const struct gp_text_data *d = out->data;
	uint64_t known = d->known_lines, problems = d->n_problems;
	ssize_t len = 1;
	size_t have = 0;
	int ret;

	if (fd < 0)
		return text_fail(path, fd);
	while (have < sizeof(begin) && len > 0) {
		len = read(opened, begin + have, sizeof(begin) - have);
		have += len > 0 ? len : 0;
	}
	if (len < 0)
		return text_fail(path, -errno);
	if (ids_is_csv(begin, have)) {
		ret = feed_csv(out, path, fd, begin, have);
		return ret ? text_fail(path, ret) : 0;
	}
	note_file(out, path);
	ret = feed(out, fd, begin, have);
	if (ret)
		return text_fail(path, ret);
	return d->known_lines == known && d->n_problems > problems ? fail_other(path, begin, have) :
								     0;
}

static int text_feed_in(struct ctl_text *out, const char *dir, const char *name)
{
	int fd = text_open_in(dir, name, TEXT_FILE_MAX);
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return fd == -ENOENT ? 0 : text_feed_fd(out, path, fd);
}

/* A packet of an AQL queue has 64 bytes (HSA Platform System Architecture, 2.9). */
#define AQL_DWORDS 16

/* Tries to read the two files of a system, which are not of one moment. */
#define TRIES 3

int64_t ctl_ring_of(const struct gp_text_data *d, const struct gp_text_queue *queue)
{
	return queue->n_mqds ? d->mqds[queue->mqds].regs.ring : GPREEMPT_UNKNOWN;
}

const struct gp_text_regs *ctl_regs_now(const struct gp_text_data *d, size_t queue)
{
	const struct gp_text_slot *slot, *first = NULL;
	size_t i;

	for (i = 0; i < d->n_slots; i++) {
		slot = d->slots + i;
		if (slot->owner == (ssize_t)queue && (!first || slot->nth_xcc < first->nth_xcc))
			first = slot;
	}
	return first ? &first->regs : NULL;
}

int64_t ctl_waiting(const struct gp_text_regs *slot)
{
	int64_t ring = slot->ring_size / sizeof(uint32_t);
	uint32_t dwords = (uint32_t)slot->wptr - (uint32_t)slot->rptr;

	if (slot->aql != 1 || slot->ring_size <= 0 || slot->rptr < 0 || slot->wptr < 0)
		return GPREEMPT_UNKNOWN;
	/* A full ring is not an empty one. */
	return (dwords > ring ? dwords % ring : dwords) / AQL_DWORDS;
}

/*
 * The driver of Linux 7 no longer writes the priority into the MQD, which has 0 then: the
 * module has it from the queue itself. Of an SDMA queue the text has none.
 */
static void take_row(struct gp_text_queue *queue, const struct gpreempt_queue *row)
{
	queue->qid = row->qid;
	if (queue->priority != GPREEMPT_UNKNOWN && row->priority != GPREEMPT_UNKNOWN)
		queue->priority = row->priority;
}

/* A ring is at one address only within a process. */
static void take_view(struct ctl_text *out, int64_t pid, const struct gpreempt_view *view)
{
	const struct gp_text_data *d = out->data;
	size_t i, j;

	for (i = 0; i < view->count; i++)
		ctl_add_id(out, pid, view->queues[i].gpu_id, view->queues[i].qid);
	for (i = 0; i < d->n_queues; i++) {
		const struct gp_text_queue *queue = d->queues + i;
		int64_t ring = ctl_ring_of(d, queue);

		if (queue->pid != pid || ring == GPREEMPT_UNKNOWN)
			continue;
		for (j = 0; j < view->count; j++)
			if (view->queues[j].ring == ring && view->queues[j].gpu_id == queue->gpu_id)
				take_row(d->queues + i, view->queues + j);
	}
}

/* The module's views of a snapshot, or of nothing. */
static void read_views(struct ctl_text *out, const char *dir)
{
	struct gpreempt_view *view;
	DIR *stream = opendir(dir);
	struct dirent *entry;
	size_t len;
	char *all;

	while (stream && (entry = readdir(stream))) {
		if (strncmp(entry->d_name, TEXT_QUEUES, strlen(TEXT_QUEUES)))
			continue;
		all = text_read_in(dir, entry->d_name, &len);
		if (all && !gp_view_parse(all, len, &view)) {
			take_view(out, atoll(entry->d_name + strlen(TEXT_QUEUES)), view);
			gpreempt_list_free(view);
		}
		free(all);
	}
	if (stream)
		closedir(stream);
}

/* Read the ids of a snapshot that was taken without the module. */
static void read_sysfs(struct ctl_text *out, const char *dir)
{
	size_t len;
	char *all = text_read_in(dir, TEXT_SYSFS, &len);

	if (all) {
		out->all_ids = true;
		ids_read_sysfs(out, all);
	}
	free(all);
}

static int feed_moment(struct ctl_text *out, const struct text_moment *moment)
{
	bool snapshot = false;
	size_t i;
	int ret = 0;

	for (i = 0; i < TEXT_FILES && !ret; i++) {
		if (!moment->files[i])
			continue;
		ret = text_feed_in(out, moment->dir, moment->files[i]);
		snapshot |= !strcmp(moment->files[i], text_names[i]);
	}
	if (!ret && snapshot) {
		read_views(out, moment->dir);
		read_sysfs(out, moment->dir);
	}
	return ret;
}

/* A directory may have one moment, or that of this name. -1: none of this name. */
static int feed_dir(struct ctl_text *out, const char *dir, const char *name)
{
	struct text_moments m;
	size_t i = 0;
	int ret = -1;

	text_moments_find(dir, &m);
	while (name && i < m.count && strcmp(m.items[i].name, name))
		i++;
	if (!name)
		text_moments_note(&m);
	if (name ? i < m.count : m.count == 1)
		ret = feed_moment(out, m.items + i);
	else if (!name && m.count)
		ret = ctl_fail_text(GPREEMPT_CLASS_USAGE, "name one of them: DIR/NAME",
				    "%s: it has %zu snapshots, %s to %s", dir, m.count,
				    m.items[0].name, m.items[m.count - 1].name);
	else if (!name)
		ret = ctl_fail_text(GPREEMPT_CLASS_FAILED, "gpreempt-lab snapshot makes one",
				    "%s: no snapshot: it has neither mqds nor hqds", dir);
	text_moments_free(&m);
	return ret;
}

/* "DIR/NAME", which need not be a file: a moment that decode lists. -1: there is none. */
static int feed_named(struct ctl_text *out, const char *word)
{
	const char *slash = strrchr(word, '/');
	char *dir = shr_must(slash ? strndup(word, slash - word + 1) : strdup("."));
	int ret = feed_dir(out, dir, slash ? slash + 1 : word);

	free(dir);
	return ret;
}

static void begin(struct ctl_text *out)
{
	*out = (struct ctl_text){ .text = gp_text_new() };
	out->data = gp_text_get(out->text);
}

/* Join the text when all files were fed, or one could not be, with this exit status. */
static int finish(struct ctl_text *out, int status)
{
	if (status) {
		ctl_text_free(out);
		return status;
	}
	gp_text_join(out->text);
	ctl_finish_ids(out);
	return 0;
}

/* A word's file, or its moment's. */
static int feed_word(struct ctl_text *out, const char *word)
{
	struct stat st;
	int ret = -1;

	if (strcmp(word, "-") && stat(word, &st))
		ret = errno == ENOENT ? feed_named(out, word) : -1;
	else if (strcmp(word, "-") && S_ISDIR(st.st_mode))
		ret = feed_dir(out, word, NULL);
	return ret < 0 ? text_feed_fd(out, word, text_open(word)) : ret;
}

int ctl_text_files(const char *const *words, size_t count, struct ctl_text *out)
{
	size_t i;
	int ret = 0;

	begin(out);
	for (i = 0; i < count && !ret; i++)
		ret = feed_word(out, words[i]);
	return finish(out, ret);
}

int ctl_text_moment(const struct text_moment *moment, struct ctl_text *out)
{
	begin(out);
	return finish(out, feed_moment(out, moment));
}

int ctl_one_stdin(const char *const *words, size_t count)
{
	size_t i, n = 0;

	for (i = 0; i < count; i++)
		n += !strcmp(words[i], "-");
	return n > 1 ? ctl_fail_text(GPREEMPT_CLASS_USAGE, NULL,
				     "\"-\", which is stdin, can be read only "
				     "once") :
		       0;
}

/* Read the driver's files. 0, or the reason: mqds takes the lock of each process. */
static int read_live(struct ctl_text *out)
{
	char path[128];
	size_t i;
	int fd, ret = 0;

	begin(out);
	for (i = 0; i < TEXT_FILES && !ret; i++) {
		snprintf(path, sizeof(path), TEXT_DIR "/%s", text_names[i]);
		fd = text_open(path);
		/* The join needs no rls, which is empty under MES. */
		if (fd < 0 && i == TEXT_RLS)
			continue;
		if (fd == -ENOENT && geteuid())
			fd = -EACCES;
		if (fd == -ENOENT)
			ret = ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED,
					    "is amdgpu loaded, and debugfs mounted?",
					    "there is no %s", path);
		else
			ret = text_feed_fd(out, path, fd);
	}
	return finish(out, ret);
}

struct gp_text_check ctl_text_check(const struct ctl_text *text, int64_t pid)
{
	struct gp_text_check sum;

	gp_text_check(text->text, pid, &sum, NULL, NULL);
	return sum;
}

static bool adds_up(const struct ctl_text *text)
{
	return !text->data->several_moments && ctl_text_check(text, 0).slots_without_owner <= 0;
}

static void live_qids(struct ctl_text *out)
{
	struct gpreempt_view *view;
	struct gpreempt *g;
	int64_t last = GPREEMPT_UNKNOWN;
	size_t i;

	if (gpreempt_new(NULL, &g))
		return;
	for (i = 0; i < out->data->n_queues; i++) {
		int64_t pid = out->data->queues[i].pid;

		if (pid == last || pid <= 0 || gpreempt_view_read(g, pid, &view, NULL))
			continue;
		last = pid;
		take_view(out, pid, view);
		gpreempt_list_free(view);
	}
	gpreempt_free(g);
}

int ctl_text_live(struct ctl_text *out)
{
	int tries = TRIES, ret;

	for (;;) {
		ret = read_live(out);
		if (ret || adds_up(out) || !--tries)
			break;
		ctl_text_free(out);
	}
	if (!ret) {
		out->all_ids = true;
		live_qids(out);
		ctl_finish_ids(out);
	}
	return ret;
}

bool ctl_text_has(const struct ctl_text *text, int64_t pid)
{
	size_t i;

	for (i = 0; i < text->data->n_processes; i++)
		if (text->data->processes[i].pid == pid)
			return true;
	for (i = 0; i < text->data->n_queues; i++)
		if (text->data->queues[i].pid == pid)
			return true;
	for (i = 0; i < text->n_ids; i++)
		if (text->ids[i].pid == pid)
			return true;
	return false;
}

void ctl_text_free(struct ctl_text *text)
{
	gp_text_free(text->text);
	while (text->n_files)
		free(text->files[--text->n_files]);
	free(text->files);
	free(text->ids);
	*text = (struct ctl_text){ 0 };
}
