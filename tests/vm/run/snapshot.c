// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guests that are saved once and restored for each job: one as it is when amdgpu.ko is
 * loaded, and from it those with the payload, and with the modules that most jobs want.
 * The name of each carries a hash of all that it depends on, so another kernel, image,
 * QEMU, command line or payload never meets an old one.
 */
#include <errno.h>
#include <glob.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vmrun.h"

#define SAVE_TIMEOUT 120 /* s */

/* FNV-1a */
uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	for (; n; n--)
		h = (h ^ *p++) * 0x100000001b3ULL;
	return h;
}

static uint64_t hash(uint64_t h, const char *s)
{
	return hash_bytes(h, s, strlen(s));
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

int bench_keys(struct bench *b)
{
	char command[PATH_MAX + 32], line[4096];
	size_t n;
	char *payload;
	int ret;

	ret = image_key(b, line, sizeof(line));
	if (ret)
		return ret;
	b->key = hash(HASH_START, line);
	snprintf(command, sizeof(command), "'%s' --version", b->qemu);
	ret = first_output(command, line, sizeof(line));
	if (ret)
		return ret;
	b->key = hash(b->key, line);
	/* The saved guest knows how fast the TSC of the host is that it was booted on. */
	ret = first_output("grep -m 1 '^model name' /proc/cpuinfo || echo '?'", line, sizeof(line));
	b->host_key = hash(HASH_START, line);
	payload = ret ? NULL : read_file(b->payload, &n);
	if (!payload)
		return ret ? ret : -errno;
	b->payload_key = hash_bytes(HASH_START, payload, n);
	free(payload);
	return 0;
}

/*
 * Returns a hash of all on which a job on this machine depends, but for the host and the
 * payload.
 */
uint64_t bench_key(const struct bench *b)
{
	char line[4096];

	vm_command_line(b, line, sizeof(line));
	return hash(b->key, line);
}

/*
 * Remove other guests of the kind, which are of no use any more; a process that restores one has
 * it open.
 */
static void remove_others(const char *kind, const char *keep)
{
	char pattern[PATH_MAX + 2];
	size_t i;
	glob_t g;

	snprintf(pattern, sizeof(pattern), "%s-*", kind);
	if (glob(pattern, 0, NULL, &g))
		return;
	for (i = 0; i < g.gl_pathc; i++)
		if (strcmp(g.gl_pathv[i], keep))
			unlink(g.gl_pathv[i]);
	globfree(&g);
}

/* From a boot, or with the modules of a job from the guest that b->saved is. */
static int start(struct vm *vm, const struct bench *b, const struct job *modules)
{
	int ret;

	if (!modules)
		return guest_boot(vm, b, b->accel, NULL, BOOT_TIMEOUT);
	ret = guest_put_job(vm, b, modules);
	return ret ? ret : guest_restore(vm, b, b->saved, WIRE_ITEM_PREPARE, "ready");
}

static int save(const struct bench *b, const struct job *modules, const char *path)
{
	char part[PATH_MAX + 8], uri[PATH_MAX + 64];
	struct vm vm = { .pid = 0 };
	int ret;

	snprintf(part, sizeof(part), "%s.part", path);
	snprintf(uri, sizeof(uri), "exec:exec cat >'%s'", part);
	snprintf(vm.dir, sizeof(vm.dir), "%s/save", b->run);
	ret = start(&vm, b, modules);
	if (!ret && !modules)
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

/* The guest of this kind and key, made if it is not there; false: it cannot be. */
static bool find_or_make(struct bench *b, const struct job *modules, const char *kind, uint64_t key)
{
	char lock_path[PATH_MAX], path[PATH_MAX], prefix[PATH_MAX - 32];
	int lock, ret = 0;

	snprintf(prefix, sizeof(prefix), "%s/vm/saved-%s-%s-%d%s-%s", b->build, b->image, kind,
		 b->counted,
		 b->chaos ? "c" :
		 b->waves ? "w" :
			    "",
		 b->memory);
	/* The guests of two command lines do not replace each other. */
	if (b->append)
		snprintf(prefix + strlen(prefix), sizeof(prefix) - strlen(prefix), "+%08x",
			 (unsigned int)hash(HASH_START, b->append));
	snprintf(path, sizeof(path), "%s-%016llx", prefix, (unsigned long long)key);
	snprintf(lock_path, sizeof(lock_path), "%s/vm/saved.lock", b->build);
	lock = lock_file(lock_path);
	if (access(path, R_OK)) {
		if (!modules)
			complain("booting a guest and saving it (once for this kernel)");
		ret = save(b, modules, path);
		if (ret)
			complain("saving failed (%s)", strerror(-ret));
		remove_others(prefix, path);
	}
	close(lock);
	if (!ret)
		snprintf(b->saved, sizeof(b->saved), "%s", path);
	return !ret;
}

/* "payload" is a part of the kind: the payloads of two makes do not replace each other. */
static const char *payload_kind(const struct bench *b, const struct job *modules, char *kind,
				size_t size)
{
	const char *name = strrchr(b->payload_name, '/');

	snprintf(kind, size, "%s%s", name ? name + 1 : b->payload_name,
		 modules->vgpu ? "-modules" : "");
	return kind;
}

/* Guests with and without an engine go on from the same one. */
bool snapshot_boot(struct bench *b)
{
	const bool waves = b->waves;
	bool made;

	b->waves = false;
	made = find_or_make(b, NULL, "boot", bench_key(b) ^ b->host_key);
	b->waves = waves;
	return made;
}

void snapshot_make(struct bench *b, const struct job *job)
{
	/* The modules that most jobs want; the others want the payload only. */
	struct job modules = { .vgpu = "", .gpreempt = true };
	char kind[256];

	b->saved[0] = '\0';
	if (b->plain || !snapshot_boot(b))
		return;
	if (b->chaos || !job->vgpu || job->vgpu[0] || !job->gpreempt)
		modules = (struct job){ .vgpu = NULL };
	payload_kind(b, &modules, kind, sizeof(kind));
	find_or_make(b, &modules, kind, bench_key(b) ^ b->host_key ^ b->payload_key);
}
