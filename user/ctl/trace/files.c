// SPDX-License-Identifier: GPL-2.0-only
/*
 * What -o gets. No format is read by both: trace-cmd and KernelShark open trace.dat, Perfetto's
 * UI opens JSON. The end of the name says which; else it is both.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ctl/trace/trace.h"
#include "shared/macro.h"

static int write_report(const struct trace_report *r, const char *path)
{
	struct json_object *json = trace_json(r);
	int ret = json_object_to_file_ext(path, json, JSON_C_TO_STRING_PRETTY);

	json_object_put(json);
	return ret ? -EIO : 0;
}

static int write_dat(const struct trace_report *r, const char *path)
{
	return trace_write_dat(r->kernel, path);
}

static const struct {
	const char *ending;
	int (*write)(const struct trace_report *r, const char *path);
} formats[] = {
	{ ".json", trace_write_timeline },
	{ ".dat", write_dat },
};

static int say(int ret, const char *path)
{
	if (!ret)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_FAILED, "give a place that can be written, with -o",
			     "cannot write %s: %s", path, strerror(-ret));
}

static bool ends_with(const char *name, const char *ending)
{
	size_t n = strlen(name), m = strlen(ending);

	return n > m && !strcmp(name + n - m, ending);
}

int trace_write_files(const struct trace_report *r, const char *name)
{
	char path[PATH_MAX];
	int ret = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(formats); i++)
		if (ends_with(name, formats[i].ending))
			return say(formats[i].write(r, name), name);
	for (i = 0; i < ARRAY_SIZE(formats) && !ret; i++) {
		snprintf(path, sizeof(path), "%s%s", name, formats[i].ending);
		ret = say(formats[i].write(r, path), path);
	}
	return ret;
}

int trace_write_dir(const struct trace_report *r, const char *dir)
{
	char path[PATH_MAX];
	int ret;

	snprintf(path, sizeof(path), "%s/trace", dir);
	ret = trace_write_files(r, path);
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "%s/report.json", dir);
	return say(write_report(r, path), path);
}

int trace_make_dir(const char *dir)
{
	if (!mkdir(dir, 0755))
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_FAILED, "name a new directory with -o",
			     "cannot make the directory %s: %s", dir, strerror(errno));
}
