// SPDX-License-Identifier: GPL-2.0-only
/* A test script: the comments at its top. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vmrun.h"

static int set_timeout(struct test_case *t, const char *value)
{
	t->timeout = atoi(value);
	return t->timeout > 0 ? 0 : -EINVAL;
}

static int set_vgpu(struct test_case *t, const char *value)
{
	t->load_vgpu = strcmp(value, "none") != 0;
	snprintf(t->vgpu, sizeof(t->vgpu), "%s", value);
	return 0;
}

/* MiB, for a case that needs more than others. */
static int set_memory(struct test_case *t, const char *value)
{
	snprintf(t->memory, sizeof(t->memory), "%s", value);
	return atoi(value) > 0 ? 0 : -EINVAL;
}

/* Parameters of the kernel's command line. */
static int set_kernel(struct test_case *t, const char *value)
{
	int n = snprintf(t->append, sizeof(t->append), "%s", value);

	return n > 0 && n < (int)sizeof(t->append) ? 0 : -EINVAL;
}

static int set_gpreempt(struct test_case *t, const char *value)
{
	t->gpreempt = strcmp(value, "no") != 0;
	return 0;
}

/* "real WHY": two CPUs at the same time are its subject. */
static int set_clock(struct test_case *t, const char *value)
{
	t->counted = false;
	return strncmp(value, "real ", 5) || !value[5] ? -EINVAL : 0;
}

/* Take the reason why the case also runs on two CPUs in check-races. */
static int set_race(struct test_case *t, const char *value)
{
	t->race = true;
	return *value ? 0 : -EINVAL;
}

/* "AREA/CASE ..." */
static int set_with(struct test_case *t, const char *value)
{
	char name[100];
	int n;

	for (; sscanf(value, "%99s%n", name, &n) == 1; value += n) {
		if (t->with_count == 3)
			return -E2BIG;
		snprintf(t->with[t->with_count++], sizeof(t->with[0]), "cases/%s.sh", name);
	}
	return t->with_count ? 0 : -EINVAL;
}

static int set_tier(struct test_case *t, const char *value)
{
	t->gate = true;
	return strcmp(value, "gate") ? -EINVAL : 0;
}

/* Take "run": shader code is executed, and takes its time on the host. */
static int set_waves(struct test_case *t, const char *value)
{
	t->waves = true;
	return strcmp(value, "run") ? -EINVAL : 0;
}

static int add_allowed(struct test_case *t, const char *value)
{
	regex_t re;

	if (t->allowed == CASE_ALLOW_MAX)
		return -E2BIG;
	if (regcomp(&re, value, REG_EXTENDED | REG_NOSUB))
		return -EINVAL;
	regfree(&re);
	t->allow[t->allowed] = strdup(value);
	return t->allow[t->allowed++] ? 0 : -ENOMEM;
}

static const struct {
	const char *word;
	int (*set)(struct test_case *t, const char *value);
} words[] = {
	{ "# timeout: ", set_timeout },	  { "# vgpu: ", set_vgpu },
	{ "# gpreempt: ", set_gpreempt }, { "# clock: ", set_clock },
	{ "# race: ", set_race },	  { "# tier: ", set_tier },
	{ "# with: ", set_with },	  { "# memory: ", set_memory },
	{ "# kernel: ", set_kernel },	  { "# allow-log: ", add_allowed },
	{ "# waves: ", set_waves },
};

static int set_word(struct test_case *t, const char *line)
{
	size_t i, len;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		len = strlen(words[i].word);
		if (!strncmp(line, words[i].word, len))
			return words[i].set(t, line + len);
	}
	return 0;
}

/* tests/vm/DIR/NAME.sh is /t/DIR/NAME.sh in the guest. NAME may have a folder. */
static void set_name(struct test_case *t, const char *cases, const char *path)
{
	size_t len = strlen(cases);
	const char *name;
	char *dot;

	if (!strncmp(path, cases, len) && path[len] == '/')
		path += len + 1;
	name = strchr(path, '/');
	snprintf(t->script, sizeof(t->script), "%s", path);
	snprintf(t->name, sizeof(t->name), "%s", name ? name + 1 : path);
	dot = strstr(t->name, ".sh");
	if (dot)
		*dot = '\0';
}

int case_read(const char *cases, const char *path, struct test_case *t)
{
	char line[1024];
	int ret = 0;
	FILE *f;

	memset(t, 0, sizeof(*t));
	t->timeout = DEFAULT_TIMEOUT;
	t->load_vgpu = true;
	t->gpreempt = true;
	t->counted = true;
	set_name(t, cases, path);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (!ret && fgets(line, sizeof(line), f) && line[0] == '#') {
		line[strcspn(line, "\n")] = '\0';
		ret = set_word(t, line);
		if (ret)
			complain("%s: %s: %s", path, line, strerror(-ret));
	}
	fclose(f);
	return ret;
}

void case_free(struct test_case *t)
{
	while (t->allowed)
		free(t->allow[--t->allowed]);
}
