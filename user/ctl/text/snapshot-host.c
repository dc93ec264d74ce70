// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <glob.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "ctl/text/snapshot.h"
#include "shared/device.h"
#include "shared/macro.h"

/* Unit tests have a host below another directory. */
#ifndef HOST_ROOT
#define HOST_ROOT ""
#endif
#define DRM_MAJOR 226

static const char *const host_files[] = {
	/* The first ones are joined with the driver's text. */
	SNAPSHOT_VIEW "/pid/*/queues",
	SNAPSHOT_VIEW "/pid/*/gpus",
	SNAPSHOT_VIEW "/pid/*/usage",
	SNAPSHOT_VIEW "/nodes",
	SNAPSHOT_VIEW "/processes",
	SNAPSHOT_VIEW "/usage",
	SNAPSHOT_VIEW "/version",
	SNAPSHOT_KFD "/proc",
	SNAPSHOT_KFD "/proc/*/vram_*",
	SNAPSHOT_KFD "/proc/*/stats_*/evicted_ms",
	SNAPSHOT_KFD "/proc/*/queues",
	SNAPSHOT_KFD "/proc/*/queues/*/*",
	SNAPSHOT_KFD "/proc/*/context_*/queues/*",
	SNAPSHOT_KFD "/topology/nodes/*/gpu_id",
	SNAPSHOT_KFD "/topology/nodes/*/properties",
	"/sys/module/amdgpu",
	"/sys/module/amdgpu/version",
	"/sys/module/amdgpu/parameters/cwsr_enable",
	"/sys/module/amdgpu/parameters/num_kcq",
	"/sys/module/amdgpu/parameters/sched_policy",
	"/sys/module/module/parameters/sig_enforce",
	"/sys/bus/pci/devices/*/fw_version/mes_fw_version",
	"/sys/module/vgpu/initstate",
	"/sys/kernel/security/lockdown",
	"/proc/sys/kernel/osrelease",
	"/proc/sys/kernel/yama/ptrace_scope",
	"/proc/self/mounts",
	"/proc/self/status",
	"/etc/passwd",
	"/etc/subuid",
	/* Names of containers of Podman and CRI-O. */
	"/var/lib/containers/storage/*-containers/containers.json",
	"/var/lib/containers/storage/*-containers/volatile-containers.json",
};

/* The command line comes last: it is in the process's memory, which may hang. */
static const char *const process_files[] = {
	"stat", "status", "comm", "cgroup", "cmdline",
};

/*
 * Copy a file to its own path below dir, or make that directory. A file that cannot be
 * read is left out.
 */
static int save(const char *dir, const char *path)
{
	const char *below = path + strlen(HOST_ROOT);
	char to[4096];
	struct stat st;
	int ret;

	snprintf(to, sizeof(to), "%s%s", dir, below);
	if (stat(path, &st) || !access(to, F_OK))
		return 0;
	if (S_ISDIR(st.st_mode))
		return snapshot_make_dir(dir, below);
	ret = snapshot_copy(path, dir, below);
	return ret < 0 ? 0 : ret;
}

/* Call fn for each path of that pattern until it returns other than 0. */
static int each_path(const char *pattern, const char *dir,
		     int (*fn)(const char *dir, const char *path))
{
	glob_t found = { 0 };
	int ret = 0;
	size_t i;

	if (!glob(pattern, GLOB_NOSORT, NULL, &found))
		for (i = 0; i < found.gl_pathc && !ret; i++)
			ret = fn(dir, found.gl_pathv[i]);
	globfree(&found);
	return ret;
}

static int save_text(const char *dir, const char *name, const char *text)
{
	FILE *file = snapshot_create(dir, name);

	if (file)
		fputs(text, file);
	return snapshot_end_file(file, dir, name);
}

/* A device of KFD or of a GPU becomes a file with its number. */
static int save_device(const char *dir, const char *path)
{
	uint64_t device, kfd = 0;
	char text[32];

	if (shr_device_at(AT_FDCWD, path, 0, &device))
		return 0;
	shr_device_at(AT_FDCWD, HOST_ROOT "/dev/kfd", 0, &kfd);
	if (device != kfd && major(device) != DRM_MAJOR)
		return 0;
	snprintf(text, sizeof(text), "%u:%u\n", major(device), minor(device));
	return save_text(dir, path + strlen(HOST_ROOT), text);
}

static int save_pid_namespace(const char *dir)
{
	static const char path[] = HOST_ROOT "/proc/self/ns/pid";
	char text[64] = "";

	if (readlink(path, text, sizeof(text) - 1) <= 0)
		return 0;
	return save_text(dir, path + strlen(HOST_ROOT), text);
}

/* The path ends with a PID. */
static int save_process(const char *dir, const char *path)
{
	const char *pid = strrchr(path, '/') + 1;
	char file[128];
	size_t i;
	int ret;

	snprintf(file, sizeof(file), HOST_ROOT "/proc/%.16s/fd", pid);
	ret = save(dir, file);
	strcat(file, "/*");
	if (!ret)
		ret = each_path(file, dir, save_device);
	for (i = 0; i < ARRAY_SIZE(process_files) && !ret; i++) {
		snprintf(file, sizeof(file), HOST_ROOT "/proc/%.16s/%s", pid, process_files[i]);
		ret = save(dir, file);
	}
	return ret;
}

/*
 * Of a JSON file one string, which value gets, too: Docker keeps the environment of a
 * container beside its name.
 */
static int save_string(const char *dir, const char *path, const char *key, char *value, size_t size)
{
	struct json_object *all = json_object_from_file(path), *found = NULL;
	const char *below = path + strlen(HOST_ROOT);
	FILE *file;
	int ret = 0;

	if (json_object_is_type(all, json_type_object) &&
	    json_object_object_get_ex(all, key, &found) &&
	    json_object_is_type(found, json_type_string)) {
		snprintf(value, size, "%s", json_object_get_string(found));
		file = snapshot_create(dir, below);
		if (file)
			fprintf(file, "{\"%s\":%s}\n", key, json_object_to_json_string(found));
		ret = snapshot_end_file(file, dir, below);
	}
	json_object_put(all);
	return ret;
}

static int save_name(const char *dir, const char *path)
{
	char name[256];

	return save_string(dir, path, "Name", name, sizeof(name));
}

static int save_docker_names(const char *dir)
{
	char root[256] = "/var/lib/docker", pattern[512];
	int ret = save_string(dir, HOST_ROOT "/etc/docker/daemon.json", "data-root", root,
			      sizeof(root));

	snprintf(pattern, sizeof(pattern), HOST_ROOT "%s/containers/*/config.v2.json", root);
	return ret ? ret : each_path(pattern, dir, save_name);
}

int snapshot_save_host(const char *dir)
{
	char pattern[256];
	size_t i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(host_files) && !ret; i++) {
		snprintf(pattern, sizeof(pattern), HOST_ROOT "%s", host_files[i]);
		ret = each_path(pattern, dir, save);
	}
	if (!ret)
		ret = save_device(dir, HOST_ROOT "/dev/kfd");
	if (!ret)
		ret = save_pid_namespace(dir);
	if (!ret)
		ret = save_docker_names(dir);
	return ret ? ret : each_path(HOST_ROOT SNAPSHOT_KFD "/proc/*", dir, save_process);
}

int snapshot_save_tracers(const char *dir, struct gpreempt *g,
			  const struct gpreempt_targets *targets)
{
	struct gpreempt_description who;
	char path[64];
	size_t i;
	int ret = 0;

	for (i = 0; i < targets->count && !ret; i++) {
		if (gpreempt_identify(g, targets->targets[i].pid, &who) || !who.tracer)
			continue;
		snprintf(path, sizeof(path), HOST_ROOT "/proc/%d/comm", who.tracer);
		ret = save(dir, path);
		snprintf(path, sizeof(path), HOST_ROOT "/proc/%d/status", who.tracer);
		if (!ret)
			ret = save(dir, path);
	}
	return ret;
}
