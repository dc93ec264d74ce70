// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/text-ids.h"
#include "ctl/text-load.h"
#include "shared/macro.h"

#define CHUNK (64 * 1024)
/* The two files of a system are not of one moment: so often they are read. */
#define TRIES 3

static void out_of_memory(void)
{
	/* Nothing useful can be said then. */
	abort();
}

static void add_file(struct ctl_text *out, const char *name)
{
	out->files = reallocarray(out->files, out->n_files + 1,
				  sizeof(*out->files));
	if (!out->files)
		out_of_memory();
	out->files[out->n_files++] = strdup(name);
}

/* All of a file, with a NUL behind it. -errno. */
static ssize_t read_all(int fd, char **out)
{
	size_t room = 0, used = 0;
	char *all = NULL;
	ssize_t got = 1;

	while (got > 0) {
		if (room - used < CHUNK) {
			room = 2 * room + CHUNK;
			all = realloc(all, room + 1);
			if (!all)
				out_of_memory();
		}
		got = read(fd, all + used, room - used);
		used += got > 0 ? got : 0;
	}
	if (got < 0) {
		got = -errno;
		free(all);
		return got;
	}
	all[used] = '\0';
	*out = all;
	return used;
}

/* What was read of it already, and the rest. */
static int feed(struct ctl_text *out, int fd, const char *begin, size_t have)
{
	static char chunk[CHUNK];
	ssize_t len;

	if (gpreempt_text_feed(out->text, begin, have))
		out_of_memory();
	while ((len = read(fd, chunk, sizeof(chunk))) > 0)
		if (gpreempt_text_feed(out->text, chunk, len))
			out_of_memory();
	if (gpreempt_text_end(out->text))
		out_of_memory();
	return len < 0 ? -errno : 0;
}

static int feed_csv(struct ctl_text *out, const char *path, int fd,
		    const char *begin, size_t have)
{
	struct ids_problems bad;
	char *rest, *all;
	ssize_t len = read_all(fd, &rest);
	int ret;

	if (len < 0)
		return len;
	all = malloc(have + len + 1);
	if (!all)
		out_of_memory();
	memcpy(all, begin, have);
	memcpy(all + have, rest, len + 1);
	ret = ids_read_csv(out, all, &bad);
	if (ret)
		ctl_note("%s: it begins as monitor --csv does, but has no "
			 "columns pid and ids", path);
	if (bad.count)
		ctl_note("%s: %" PRIu64 " lines could not be read, the first "
			 "is line %" PRIu64, path, bad.count, bad.first);
	out->bad_lines += bad.count;
	free(rest);
	free(all);
	return ret;
}

/*
 * It is looked at only once, from its begin on: it may be a pipe. What monitor
 * --csv wrote is known by its first word.
 */
static int feed_fd(struct ctl_text *out, const char *path, int fd)
{
	char begin[IDS_CSV_BEGIN];
	ssize_t len = 1;
	size_t have = 0;

	while (have < sizeof(begin) && len > 0) {
		len = read(fd, begin + have, sizeof(begin) - have);
		have += len > 0 ? len : 0;
	}
	if (len < 0)
		return -errno;
	if (ids_is_csv(begin, have))
		return feed_csv(out, path, fd, begin, have);
	add_file(out, path);
	return feed(out, fd, begin, have);
}

static int feed_path(struct ctl_text *out, const char *path)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) :
		dup(STDIN_FILENO);
	int ret = fd < 0 ? -errno : feed_fd(out, path, fd);

	if (fd >= 0)
		close(fd);
	return ret;
}

static int fail(const char *path, int err)
{
	return ctl_fail_text(err == -EACCES || err == -EPERM ?
			     GPREEMPT_CLASS_PERMISSION : GPREEMPT_CLASS_FAILED,
			     err == -EACCES ? "run it as root" : NULL,
			     "%s: %s", path, strerror(-err));
}

char *ctl_read_file(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *all = NULL;
	ssize_t got;

	if (fd < 0)
		return NULL;
	got = read_all(fd, &all);
	close(fd);
	if (got < 0) {
		errno = -got;
		return NULL;
	}
	*len = got;
	return all;
}

void ctl_add_id(struct ctl_text *out, int64_t pid, int64_t gpu_id,
		int64_t qid)
{
	out->ids = reallocarray(out->ids, out->n_ids + 1, sizeof(*out->ids));
	if (!out->ids)
		out_of_memory();
	out->ids[out->n_ids++] = (struct ctl_id){ pid, gpu_id, qid };
}

/* A ring is at one address only within a process. */
static void set_qids(struct ctl_text *out, int64_t pid,
		     const struct gpreempt_view *view)
{
	const struct gpreempt_text_data *d = gpreempt_text_get(out->text);
	size_t i, j;

	for (i = 0; i < view->count; i++)
		ctl_add_id(out, pid, view->queues[i].gpu_id, view->queues[i].qid);
	for (i = 0; i < d->n_queues; i++) {
		const struct gpreempt_text_queue *queue = d->queues + i;
		int64_t ring = queue->n_mqds ?
			d->mqds[queue->mqds].regs.ring : GPREEMPT_UNKNOWN;

		if (queue->pid != pid || ring == GPREEMPT_UNKNOWN)
			continue;
		for (j = 0; j < view->count; j++)
			if (view->queues[j].ring == ring &&
			    view->queues[j].gpu_id == queue->gpu_id)
				gpreempt_text_set_qid(out->text, i,
						      view->queues[j].qid);
	}
}

/* The module's views of a snapshot, or of nothing. */
static void read_views(struct ctl_text *out, const char *dir)
{
	struct gpreempt_view *view;
	DIR *stream = opendir(dir);
	struct dirent *entry;
	char path[4096], *all;
	size_t len;

	while (stream && (entry = readdir(stream))) {
		if (strncmp(entry->d_name, TEXT_QUEUES, strlen(TEXT_QUEUES)))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		all = ctl_read_file(path, &len);
		if (all && !gpreempt_view_parse(all, len, &view)) {
			set_qids(out, atoll(entry->d_name +
					    strlen(TEXT_QUEUES)), view);
			gpreempt_view_free(view);
		}
		free(all);
	}
	if (stream)
		closedir(stream);
}

/* Ids of a snapshot that was taken without the module. */
static void read_sysfs(struct ctl_text *out, const char *dir)
{
	char path[4096], *all;
	size_t len;

	snprintf(path, sizeof(path), "%s/" TEXT_SYSFS, dir);
	all = ctl_read_file(path, &len);
	if (all) {
		out->all_ids = true;
		ids_read_sysfs(out, all);
	}
	free(all);
}

bool ctl_is_snapshot(const char *dir)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/" TEXT_MQDS, dir);
	if (!access(path, F_OK))
		return true;
	snprintf(path, sizeof(path), "%s/" TEXT_HQDS, dir);
	return !access(path, F_OK);
}

static int feed_snapshot(struct ctl_text *out, const char *dir)
{
	static const char *const names[] = { TEXT_MQDS, TEXT_HQDS, TEXT_RLS };
	char path[4096];
	size_t i;
	int ret;

	if (!ctl_is_snapshot(dir))
		return ctl_fail_text(GPREEMPT_CLASS_FAILED,
				     "gpreempt-ctl snapshot makes one",
				     "%s: no snapshot: it has neither mqds nor hqds",
				     dir);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		ret = feed_path(out, path);
		if (ret && ret != -ENOENT)
			return fail(path, ret);
	}
	return 0;
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

/* With those of the older text, which has them itself. */
static void finish_ids(struct ctl_text *out)
{
	size_t i, kept = 0;

	for (i = 0; i < out->data->n_queues; i++)
		if (out->data->queues[i].older &&
		    out->data->queues[i].qid != GPREEMPT_UNKNOWN)
			ctl_add_id(out, out->data->queues[i].pid,
				   out->data->queues[i].gpu_id,
				   out->data->queues[i].qid);
	if (!out->n_ids)
		return;
	qsort(out->ids, out->n_ids, sizeof(*out->ids), compare_ids);
	for (i = 1; i < out->n_ids; i++)
		if (compare_ids(out->ids + kept, out->ids + i))
			out->ids[++kept] = out->ids[i];
	out->n_ids = kept + 1;
}

bool ctl_ids_known(const struct ctl_text *text, int64_t pid)
{
	size_t i;

	for (i = 0; i < text->n_ids; i++)
		if (!pid || text->ids[i].pid == pid)
			return true;
	return text->all_ids;
}

static int begin(struct ctl_text *out)
{
	*out = (struct ctl_text){ 0 };
	if (gpreempt_text_new(&out->text))
		out_of_memory();
	return 0;
}

static void join(struct ctl_text *out)
{
	if (gpreempt_text_join(out->text))
		out_of_memory();
	out->data = gpreempt_text_get(out->text);
}

/* A word's file, or its snapshot's. */
static int feed_word(struct ctl_text *out, const char *word)
{
	struct stat st;
	int ret;

	if (strcmp(word, "-") && !stat(word, &st) && S_ISDIR(st.st_mode)) {
		ret = feed_snapshot(out, word);
		if (!ret) {
			read_views(out, word);
			read_sysfs(out, word);
		}
		return ret;
	}
	ret = feed_path(out, word);
	return ret ? fail(word, ret) : 0;
}

int ctl_text_files(const char *const *words, size_t count,
		   struct ctl_text *out)
{
	size_t i;
	int ret = begin(out);

	for (i = 0; i < count && !ret; i++)
		ret = feed_word(out, words[i]);
	if (ret) {
		ctl_text_free(out);
		return ret;
	}
	join(out);
	finish_ids(out);
	return 0;
}

int ctl_one_stdin(const char *const *words, size_t count)
{
	size_t i, n = 0;

	for (i = 0; i < count; i++)
		n += !strcmp(words[i], "-");
	return n > 1 ? ctl_fail_text(GPREEMPT_CLASS_USAGE, NULL,
				     "\"-\", which is stdin, can be read only "
				     "once") : 0;
}

/* 0, or what to say: mqds takes the lock of each process. */
static int read_live(struct ctl_text *out)
{
	static const char *const paths[] = {
		TEXT_DIR "/" TEXT_MQDS, TEXT_DIR "/" TEXT_HQDS,
	};
	size_t i;
	int ret;

	begin(out);
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		ret = feed_path(out, paths[i]);
		if (!ret)
			continue;
		ctl_text_free(out);
		if (ret == -ENOENT && geteuid())
			ret = -EACCES;
		if (ret == -ENOENT)
			return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED,
				"is amdgpu loaded, and debugfs mounted?",
				"there is no %s", paths[i]);
		return fail(paths[i], ret);
	}
	/* Not needed for the join, and empty under MES. */
	feed_path(out, TEXT_DIR "/" TEXT_RLS);
	join(out);
	return 0;
}

static bool adds_up(struct ctl_text *text)
{
	struct gpreempt_text_check sum, *by_xcc;
	size_t count;

	if (gpreempt_text_check(text->text, GPREEMPT_UNKNOWN, &sum, &by_xcc,
				&count))
		out_of_memory();
	free(by_xcc);
	return !sum.slots_without_owner;
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

		if (pid == last || pid <= 0 ||
		    gpreempt_view_read(g, pid, &view, NULL))
			continue;
		last = pid;
		set_qids(out, pid, view);
		gpreempt_view_free(view);
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
		finish_ids(out);
	}
	return ret;
}

void ctl_text_free(struct ctl_text *text)
{
	gpreempt_text_free(text->text);
	while (text->n_files)
		free(text->files[--text->n_files]);
	free(text->files);
	free(text->ids);
	*text = (struct ctl_text){ 0 };
}
