// SPDX-License-Identifier: GPL-2.0-only
/*
 * The guest as it is when amdgpu.ko is loaded, saved once and restored for
 * each job. Its file's name carries a hash of all that it depends on, so
 * another kernel, image, QEMU or command line never meets an old one.
 */
#include <errno.h>
#include <glob.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "vmrun.h"

#define SAVE_TIMEOUT 120 /* s */

/* FNV-1a */
static uint64_t hash(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ULL;
	return h;
}

static int first_line(FILE *f, char *line, size_t size)
{
	if (!f)
		return -ENOENT;
	return fgets(line, size, f) ? 0 : -EIO;
}

static int first_output(const char *command, char *line, size_t size)
{
	FILE *f = popen(command, "re");
	int ret = first_line(f, line, size);

	if (f)
		pclose(f);
	return ret;
}

static int qemu_version(const struct bench *b, char *line, size_t size)
{
	char command[256];

	snprintf(command, sizeof(command), "%s --version", b->qemu);
	return first_output(command, line, size);
}

/* The saved guest knows how fast the TSC of the host is that it was booted on. */
static int host_processor(char *line, size_t size)
{
	return first_output("grep -m 1 '^model name' /proc/cpuinfo || echo '?'",
			    line, size);
}

static int image_key(const struct bench *b, char *line, size_t size)
{
	char path[PATH_MAX];
	FILE *f;
	int ret;

	snprintf(path, sizeof(path), "%s/vm/%s/key", b->build, b->image);
	f = fopen(path, "re");
	ret = first_line(f, line, size);
	if (f)
		fclose(f);
	return ret;
}

static int name_saved(const struct bench *b, char *path, size_t size)
{
	uint64_t h = 0xcbf29ce484222325ULL;
	char line[4096];
	int ret;

	ret = image_key(b, line, sizeof(line));
	if (ret)
		return ret;
	h = hash(h, line);
	ret = qemu_version(b, line, sizeof(line));
	if (ret)
		return ret;
	h = hash(h, line);
	ret = host_processor(line, sizeof(line));
	if (ret)
		return ret;
	h = hash(h, line);
	vm_command_line(b, line, sizeof(line));
	h = hash(h, line);
	snprintf(path, size, "%s/vm/saved-%s-%d-%016llx", b->build, b->image,
		 b->counted, (unsigned long long)h);
	return 0;
}

/* Others are of no use any more; who restores one just now has it open. */
static void remove_others(const struct bench *b, const char *keep)
{
	char pattern[PATH_MAX];
	size_t i;
	glob_t g;

	snprintf(pattern, sizeof(pattern), "%s/vm/saved-%s-%d-*", b->build,
		 b->image, b->counted);
	if (glob(pattern, 0, NULL, &g))
		return;
	for (i = 0; i < g.gl_pathc; i++)
		if (strcmp(g.gl_pathv[i], keep))
			unlink(g.gl_pathv[i]);
	globfree(&g);
}

static int save(const struct bench *b, const char *path)
{
	char part[PATH_MAX + 8], uri[PATH_MAX + 64];
	struct vm vm = { .pid = 0 };
	int ret;

	snprintf(part, sizeof(part), "%s.part", path);
	snprintf(uri, sizeof(uri), "exec:exec cat >'%s'", part);
	snprintf(vm.dir, sizeof(vm.dir), "%s/save", b->run);
	ret = guest_boot(&vm, b, b->accel, BOOT_TIMEOUT);
	if (!ret)
		ret = qmp_open(vm.qmp);
	if (!ret)
		ret = qmp_run(vm.qmp, "{\"execute\":\"stop\"}");
	if (!ret)
		ret = qmp_migrate(vm.qmp, uri, SAVE_TIMEOUT * pace_outside(b));
	vm_stop(&vm);
	/* Renamed only when whole: an interrupted save is never restored. */
	if (!ret && rename(part, path))
		ret = -errno;
	if (ret)
		unlink(part);
	return ret;
}

void snapshot_make(struct bench *b)
{
	char lock_path[PATH_MAX];
	int lock, ret;

	if (b->plain || name_saved(b, b->saved, sizeof(b->saved))) {
		b->saved[0] = '\0';
		return;
	}
	if (!access(b->saved, R_OK))
		return;
	snprintf(lock_path, sizeof(lock_path), "%s/vm/saved.lock", b->build);
	lock = lock_file(lock_path);
	if (access(b->saved, R_OK)) {
		complain("booting a guest and saving it (once for this kernel)");
		ret = save(b, b->saved);
		if (ret)
			complain("saving failed (%s), booting each time",
				 strerror(-ret));
		remove_others(b, b->saved);
	}
	close(lock);
}
