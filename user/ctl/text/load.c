// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/text/feed.h"
#include "ctl/text/ids.h"
#include "ctl/text/load.h"
#include "ctl/text/open.h"

/* The two files of a system are not of one moment: so often they are read. */
#define TRIES 3

int64_t ctl_ring_of(const struct gp_text_data *d, const struct gp_text_queue *queue)
{
	return queue->n_mqds ? d->mqds[queue->mqds].regs.ring : GPREEMPT_UNKNOWN;
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
		if (all && !gpreempt_view_parse(all, len, &view)) {
			take_view(out, atoll(entry->d_name + strlen(TEXT_QUEUES)), view);
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
	size_t i;
	int ret = 0;

	for (i = 0; i < TEXT_FILES && !ret; i++)
		if (moment->files[i])
			ret = text_feed_in(out, moment->dir, moment->files[i]);
	if (!ret && moment->snapshot) {
		read_views(out, moment->dir);
		read_sysfs(out, moment->dir);
	}
	return ret;
}

/* A directory that is no snapshot may have files of one moment. */
static int feed_dir(struct ctl_text *out, const char *dir)
{
	struct text_moment *moments;
	size_t count = text_moments(dir, &moments);
	int ret;

	if (count == 1)
		ret = feed_moment(out, moments);
	else if (count)
		ret = ctl_fail_text(GPREEMPT_CLASS_USAGE, "name one of them: DIR/NAME",
				    "%s: it has %zu snapshots, %s to %s", dir, count,
				    moments[0].name, moments[count - 1].name);
	else
		ret = ctl_fail_text(GPREEMPT_CLASS_FAILED, "gpreempt-ctl snapshot makes one",
				    "%s: no snapshot: it has neither mqds nor hqds", dir);
	text_moments_free(moments, count);
	return ret;
}

static void begin(struct ctl_text *out)
{
	*out = (struct ctl_text){ 0 };
	if (gp_text_new(&out->text))
		abort();
	out->data = gp_text_get(out->text);
}

/* All files were fed, or one could not be, with this exit status. */
static int join(struct ctl_text *out, int status)
{
	if (status) {
		ctl_text_free(out);
		return status;
	}
	if (gp_text_join(out->text))
		abort();
	return 0;
}

/* A word's file, or its snapshot's. */
static int feed_word(struct ctl_text *out, const char *word)
{
	struct text_moment *moment = NULL;
	struct stat st;
	int ret;

	if (!strcmp(word, "-"))
		return text_feed_path(out, word);
	if (stat(word, &st)) {
		if (errno == ENOENT)
			moment = text_moment_named(word);
	} else if (S_ISDIR(st.st_mode)) {
		if (!ctl_is_snapshot(word))
			return feed_dir(out, word);
		moment = text_moment_snapshot(word);
	}
	if (!moment)
		return text_feed_path(out, word);
	ret = feed_moment(out, moment);
	text_moments_free(moment, 1);
	return ret;
}

int ctl_text_moment(const struct text_moment *moment, struct ctl_text *out)
{
	int ret;

	begin(out);
	ret = join(out, feed_moment(out, moment));
	if (!ret)
		ctl_finish_ids(out);
	return ret;
}

int ctl_text_files(const char *const *words, size_t count, struct ctl_text *out)
{
	size_t i;
	int ret = 0;

	begin(out);
	for (i = 0; i < count && !ret; i++)
		ret = feed_word(out, words[i]);
	ret = join(out, ret);
	if (!ret)
		ctl_finish_ids(out);
	return ret;
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

/* 0, or what to say: mqds takes the lock of each process. */
static int read_live(struct ctl_text *out)
{
	char path[128];
	size_t i;
	int fd, ret = 0;

	begin(out);
	for (i = 0; i < TEXT_FILES && !ret; i++) {
		snprintf(path, sizeof(path), TEXT_DIR "/%s", text_names[i]);
		fd = text_open(path);
		/* Not needed for the join, and empty under MES. */
		if (fd < 0 && i == TEXT_RLS)
			continue;
		if (fd == -ENOENT && geteuid())
			fd = -EACCES;
		if (fd == -ENOENT)
			ret = ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED,
					    "is amdgpu loaded, and debugfs mounted?",
					    "there is no %s", path);
		else
			ret = fd < 0 ? text_fail(path, fd) : text_feed_fd(out, path, fd);
		if (fd >= 0)
			close(fd);
	}
	return join(out, ret);
}

struct gp_text_check ctl_text_check(const struct ctl_text *text, int64_t pid)
{
	struct gp_text_check sum;

	if (gp_text_check(text->text, pid, &sum, NULL, NULL))
		abort();
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
		ctl_finish_ids(out);
	}
	return ret;
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
