// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names of containers, from the files of root's own Docker, Podman, CRI-O and
 * containerd. Those of a user's engine are in the user's home, where we read nothing.
 * Names of users, as /etc/passwd has them: those of a directory service go by number,
 * for to ask one can take long, and guard may not wait.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/select/select.h"
#include "shared/clock.h"
#include "shared/parse.h"

#define MAX_PATH 256
#define FILES	 128 /* kept; the one that was read first makes room */

/* How old an answer may be, and one in which an id is missing. */
#define FRESH_NS   NSEC_PER_SEC
#define MISSING_NS (200 * NSEC_PER_MSEC)

/* guard looks for the name of each process several times a second. */
struct gp_files {
	struct file {
		char path[MAX_PATH];
		uint64_t read_ns;	  /* 0: free */
		struct json_object *json; /* NULL: the file is damaged */
	} file[FILES];
};

static void free_files(struct gp_files *files)
{
	size_t i;

	for (i = 0; i < FILES; i++)
		json_object_put(files->file[i].json);
	free(files);
}

/* The file of that path, or the one to replace. */
static struct file *find_file(struct gp_files *files, const char *path)
{
	struct file *oldest = files->file;
	size_t i;

	for (i = 0; i < FILES; i++) {
		if (!strcmp(files->file[i].path, path))
			return &files->file[i];
		if (files->file[i].read_ns < oldest->read_ns)
			oldest = &files->file[i];
	}
	return oldest;
}

/*
 * What the file contains, up to @age_ns old. A missing file takes no place. If
 * another error occurs, the earlier content stays.
 */
static struct json_object *get_json(struct gpreempt *g, const char *path, uint64_t age_ns)
{
	__cleanup_free char *text = NULL;
	uint64_t now = shr_now_ns();
	struct file *f;
	size_t len;
	bool known;
	int ret;

	if (!g->files)
		g->files = calloc(1, sizeof(*g->files));
	if (!g->files)
		return NULL;
	g->free_files = free_files;
	f = find_file(g->files, path);
	known = !strcmp(f->path, path);
	if (known && now - f->read_ns < age_ns)
		return f->json;
	ret = gp_read_root_text(g, path, &text, &len);
	/* One that is too large has no names, as one that is damaged. */
	if (ret && ret != -EFBIG && (!known || ret != -ENOENT))
		return known ? f->json : NULL;
	json_object_put(f->json);
	*f = (struct file){ 0 };
	if (ret == -ENOENT)
		return NULL;
	snprintf(f->path, sizeof(f->path), "%s", path);
	f->read_ns = now;
	f->json = ret ? NULL : json_tokener_parse(text);
	return f->json;
}

/* NULL if it is no string. */
static const char *to_string(struct json_object *value)
{
	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

/* A string of an object, or NULL. */
static const char *get_string(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? to_string(value) : NULL;
}

static void set_name(struct gp_container *container, const char *name)
{
	if (name)
		snprintf(container->name, sizeof(container->name), "%s", name + (*name == '/'));
}

static void docker_name(struct gpreempt *g, uint64_t age_ns, struct gp_container *container)
{
	const char *root = get_string(get_json(g, "/etc/docker/daemon.json", age_ns), "data-root");
	char path[MAX_PATH];

	snprintf(path, sizeof(path), "%s/containers/%s/config.v2.json",
		 root ? root : "/var/lib/docker", container->id);
	set_name(container, get_string(get_json(g, path, age_ns), "Name"));
}

/* In a list of containers as containers/storage writes it. */
static const char *find_name(struct json_object *list, const char *id)
{
	size_t i,
		n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;

	for (i = 0; i < n; i++) {
		struct json_object *one = json_object_array_get_idx(list, i);
		const char *its = get_string(one, "id");
		struct json_object *names;

		if (its && !strcmp(its, id) && json_object_object_get_ex(one, "names", &names) &&
		    json_object_is_type(names, json_type_array))
			return to_string(json_object_array_get_idx(names, 0));
	}
	return NULL;
}

/* Podman and CRI-O have one storage, with a directory for each driver. */
static void podman_name(struct gpreempt *g, uint64_t age_ns, struct gp_container *container)
{
	static const char *const drivers[] = { "overlay", "vfs", "btrfs", "zfs" };
	static const char *const prefixes[] = { "", "volatile-" };
	char path[MAX_PATH];
	size_t d, p;

	for (d = 0; d < ARRAY_SIZE(drivers); d++)
		for (p = 0; p < ARRAY_SIZE(prefixes); p++) {
			snprintf(path, sizeof(path),
				 "/var/lib/containers/storage/%s-containers/"
				 "%scontainers.json",
				 drivers[d], prefixes[p]);
			set_name(container, find_name(get_json(g, path, age_ns), container->id));
		}
}

/*
 * In what containerd was given to run: by the kubelet, by nerdctl, or by ctr, which has
 * no other name than the id.
 */
static void containerd_name(struct gpreempt *g, uint64_t age_ns, struct gp_container *container)
{
	static const char *const spaces[] = { "k8s.io", "default" };
	struct json_object *config = NULL, *notes = NULL;
	const char *pod, *in;
	char path[MAX_PATH];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(spaces) && !config; i++) {
		snprintf(path, sizeof(path), GP_CONTAINERD "/%s/%s/config.json", spaces[i],
			 container->id);
		config = get_json(g, path, age_ns);
	}
	if (!json_object_object_get_ex(config, "annotations", &notes))
		return;
	set_name(container, get_string(notes, "io.kubernetes.cri.container-name"));
	if (!*container->name)
		set_name(container, get_string(notes, "nerdctl/name"));
	pod = get_string(notes, "io.kubernetes.cri.sandbox-name");
	in = get_string(notes, "io.kubernetes.cri.sandbox-namespace");
	if (pod && in) {
		snprintf(container->pod, sizeof(container->pod), "%s", pod);
		snprintf(container->pod_namespace, sizeof(container->pod_namespace), "%s", in);
	}
}

void gp_container_name(struct gpreempt *g, struct gp_container *container)
{
	static const uint64_t ages[] = { FRESH_NS, MISSING_NS };
	static const struct {
		const char *engine;
		void (*name)(struct gpreempt *g, uint64_t age_ns, struct gp_container *container);
	} readers[] = {
		{ "docker", docker_name },
		{ "podman", podman_name },
		{ "cri-o", podman_name },
		{ "containerd", containerd_name },
		{ "kubernetes", containerd_name },
		{ "kubernetes", podman_name },
		/* The path of a cgroup does not always tell who made it. */
		{ "container", docker_name },
		{ "container", podman_name },
		{ "container", containerd_name },
	};
	size_t a, i;

	for (a = 0; a < ARRAY_SIZE(ages); a++)
		for (i = 0; i < ARRAY_SIZE(readers); i++)
			if (!*container->name && !strcmp(readers[i].engine, container->engine))
				readers[i].name(g, ages[a], container);
}

/* In "name:x:uid:gid:...": the uid of that name, or with NULL the name of *uid. */
static int find_user(const struct gpreempt *g, const char *name, uid_t *uid, char *buf, size_t size)
{
	char *text, *line, *rest = NULL, *field[4];
	size_t len, i;
	uint64_t id;
	int ret;

	ret = gp_read_text(g, "/etc/passwd", &text, &len);
	if (ret)
		return ret;
	ret = -ENOENT;
	for (line = strtok_r(text, "\n", &rest); line && ret; line = strtok_r(NULL, "\n", &rest)) {
		for (i = 0; i < ARRAY_SIZE(field); i++)
			field[i] = strsep(&line, ":");
		if (!field[3] || shr_parse_u64(field[2], UINT32_MAX - 1, &id) ||
		    (name ? strcmp(field[0], name) : id != *uid))
			continue;
		*uid = id;
		snprintf(buf, size, "%s", field[0]);
		ret = 0;
	}
	free(text);
	return ret;
}

int gp_user_by_name(const struct gpreempt *g, const char *name, uid_t *uid)
{
	return find_user(g, name, uid, NULL, 0);
}

int gp_user_name(struct gpreempt *g, uid_t uid, char *buf, size_t size)
{
	return find_user(g, NULL, &uid, buf, size);
}
