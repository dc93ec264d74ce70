// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names of containers, from the files that Docker and Podman keep. */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/select.h"

#define MAX_PATH 512

static struct json_object *read_json(const struct gpreempt *g,
				     const char *path)
{
	struct json_object *root;
	char *text;
	size_t len;

	if (gp_read_text(g, path, &text, &len))
		return NULL;
	root = json_tokener_parse(text);
	free(text);
	return root;
}

/* A string of an object, or NULL. */
static const char *get_string(struct json_object *object, const char *key)
{
	struct json_object *value;

	if (!json_object_is_type(object, json_type_object) ||
	    !json_object_object_get_ex(object, key, &value) ||
	    !json_object_is_type(value, json_type_string))
		return NULL;
	return json_object_get_string(value);
}

/* Home of the user whose slice the cgroup is in; of a system's service, "". */
static void find_home(const struct gpreempt *g, const char *cgroup,
		      char *home, size_t size)
{
	const char *at = strstr(cgroup, "/user-");
	char *text, *line, *rest = NULL;
	unsigned long uid;
	size_t len;

	*home = '\0';
	if (!at || gp_read_text(g, "/etc/passwd", &text, &len))
		return;
	uid = strtoul(at + strlen("/user-"), NULL, 10);
	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *field[7] = { NULL };
		int i;

		for (i = 0; i < 7 && line; i++)
			field[i] = strsep(&line, ":");
		if (field[5] && strtoul(field[2], NULL, 10) == uid)
			snprintf(home, size, "%s", field[5]);
	}
	free(text);
}

static void set_name(struct gpreempt_container *container, const char *name)
{
	if (!name)
		return;
	snprintf(container->name, sizeof(container->name), "%s",
		 name + (*name == '/'));
}

static void docker_name(const struct gpreempt *g, const char *home,
			struct gpreempt_container *container)
{
	struct json_object *config = read_json(g, "/etc/docker/daemon.json");
	const char *root = get_string(config, "data-root");
	char path[MAX_PATH];

	if (*home)
		snprintf(path, sizeof(path), "%.128s/.local/share/docker/"
			 "containers/%s/config.v2.json", home, container->id);
	else
		snprintf(path, sizeof(path),
			 "%.256s/containers/%s/config.v2.json",
			 root ? root : "/var/lib/docker", container->id);
	json_object_put(config);
	config = read_json(g, path);
	set_name(container, get_string(config, "Name"));
	json_object_put(config);
}

/* A list of containers as Podman's storage has it, CRI-O's too. */
static void storage_names(const struct gpreempt *g, const char *path,
			  struct gpreempt_container *container)
{
	struct json_object *list = read_json(g, path), *names;
	size_t i, count;

	count = json_object_is_type(list, json_type_array) ?
		json_object_array_length(list) : 0;
	for (i = 0; i < count; i++) {
		struct json_object *one = json_object_array_get_idx(list, i);
		const char *id = get_string(one, "id");

		if (!id || strcmp(id, container->id) ||
		    !json_object_object_get_ex(one, "names", &names) ||
		    !json_object_is_type(names, json_type_array))
			continue;
		one = json_object_array_get_idx(names, 0);
		set_name(container, json_object_get_string(one));
	}
	json_object_put(list);
}

struct storage {
	const struct gpreempt *g;
	const char *root;
	struct gpreempt_container *container;
};

/* One of overlay-containers, vfs-containers, btrfs-containers ... */
static int look_at_storage(void *arg, const char *name)
{
	static const char *const files[] = {
		"containers.json", "volatile-containers.json",
	};
	struct storage *storage = arg;
	const char *end = strstr(name, "-containers");
	char path[MAX_PATH];
	size_t i;

	if (!end || strcmp(end, "-containers"))
		return 0;
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%.192s/%.64s/%s", storage->root,
			 name, files[i]);
		storage_names(storage->g, path, storage->container);
	}
	return 0;
}

static void podman_name(const struct gpreempt *g, const char *home,
			struct gpreempt_container *container)
{
	char root[MAX_PATH];
	struct storage storage = {
		.g = g, .root = root, .container = container,
	};

	snprintf(root, sizeof(root), "%.128s%s/containers/storage", home,
		 *home ? "/.local/share" : "/var/lib");
	g->ops->list_dir(g->be, root, look_at_storage, &storage);
}

void gp_container_name(const struct gpreempt *g, const char *path,
		       struct gpreempt_container *container)
{
	static const struct {
		const char *engine;
		void (*name)(const struct gpreempt *g, const char *home,
			     struct gpreempt_container *container);
	} readers[] = {
		{ "docker", docker_name },
		{ "podman", podman_name },
		{ "cri-o", podman_name },
		/* The path of a cgroup does not always tell who made it. */
		{ "container", docker_name },
		{ "container", podman_name },
	};
	char home[128];
	size_t i;

	find_home(g, path, home, sizeof(home));
	for (i = 0; !*container->name && i < ARRAY_SIZE(readers); i++)
		if (!strcmp(readers[i].engine, container->engine))
			readers[i].name(g, home, container);
}
