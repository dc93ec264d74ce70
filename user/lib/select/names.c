// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names of containers, from the files that Docker and Podman keep: those of
 * the system, and below a home those of its user, who can write what it likes.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/select/select.h"

#define MAX_PATH   512
#define MAX_DEPTH  32
#define MAX_VALUES 32768 /* json-c takes up to 1 KiB for each */
#define MAX_DIRS   8	 /* of storage drivers; Podman uses one */

/* NULL when it is none, or more of it than an engine writes. */
static struct json_object *parse_json(const char *text, size_t len)
{
	struct json_tokener *tokener;
	struct json_object *root;
	size_t i, values = 1;

	/* Before each value but the first is one of these. */
	for (i = 0; i < len; i++)
		values += strchr(",:[{", text[i]) && text[i];
	if (values > MAX_VALUES)
		return NULL;
	tokener = json_tokener_new_ex(MAX_DEPTH);
	if (!tokener)
		return NULL;
	/* With the 0 behind it, so that a number has an end. */
	root = json_tokener_parse_ex(tokener, text, len + 1);
	json_tokener_free(tokener);
	return root;
}

static const char *to_string(struct json_object *value)
{
	return json_object_is_type(value, json_type_string) ?
		       json_object_get_string(value) :
		       NULL;
}

/* A string of an object, or NULL. */
static const char *get_string(struct json_object *object, const char *key)
{
	struct json_object *value;

	if (!json_object_is_type(object, json_type_object) ||
	    !json_object_object_get_ex(object, key, &value))
		return NULL;
	return to_string(value);
}

/* The only name of a file. */
static void add_string(const char *text, size_t len, const char *key,
		       struct gp_names *names)
{
	struct json_object *root = parse_json(text, len);
	const char *value = get_string(root, key);

	if (value)
		gp_names_add(names, "", value);
	json_object_put(root);
}

static void parse_docker_config(const char *text, size_t len,
				struct gp_names *names)
{
	add_string(text, len, "data-root", names);
}

static void parse_docker_container(const char *text, size_t len,
				   struct gp_names *names)
{
	add_string(text, len, "Name", names);
}

/* A list of containers as Podman's storage has it, CRI-O's too. */
static void parse_storage(const char *text, size_t len, struct gp_names *names)
{
	struct json_object *list = parse_json(text, len), *called;
	size_t i, count;

	count = json_object_is_type(list, json_type_array) ?
			json_object_array_length(list) :
			0;
	for (i = 0; i < count; i++) {
		struct json_object *one = json_object_array_get_idx(list, i);
		const char *id = get_string(one, "id"), *name;

		if (!id || !json_object_object_get_ex(one, "names", &called) ||
		    !json_object_is_type(called, json_type_array))
			continue;
		name = to_string(json_object_array_get_idx(called, 0));
		if (name)
			gp_names_add(names, id, name);
	}
	json_object_put(list);
}

/* overlay-containers, vfs-containers, btrfs-containers ... */
static void parse_storage_dirs(const char *text, size_t len,
			       struct gp_names *names)
{
	static const char suffix[] = "-containers";
	char name[64];

	(void)len;
	while (*text && names->count < MAX_DIRS) {
		size_t n = strcspn(text, "\n"), end = strlen(suffix);

		if (n > end && n < sizeof(name) &&
		    !memcmp(text + n - end, suffix, end)) {
			snprintf(name, sizeof(name), "%.*s", (int)n, text);
			gp_names_add(names, name, "");
		}
		text += n + (text[n] == '\n');
	}
}

static void set_name(struct gpreempt_container *container, const char *name)
{
	if (name)
		snprintf(container->name, sizeof(container->name), "%s",
			 name + (*name == '/'));
}

static void docker_name(const struct gpreempt *g, const struct gp_user *keeper,
			struct gpreempt_container *container)
{
	static const struct gp_place config = {
		.base = "/etc/docker",
		.path = "daemon.json",
	};
	char path[MAX_PATH], base[MAX_PATH] = "/var/lib/docker";
	struct gp_place place = {
		.uid = keeper->uid,
		.gid = keeper->gid,
		.base = *keeper->home ? keeper->home : base,
		.path = path,
	};
	const char *root =
		*keeper->home ?
			NULL :
			gp_names_find(gp_place_names(g, &config,
						     parse_docker_config, ""),
				      "");

	if (root)
		snprintf(base, sizeof(base), "%s", root);
	snprintf(path, sizeof(path), "%scontainers/%s/config.v2.json",
		 *keeper->home ? ".local/share/docker/" : "", container->id);
	set_name(container,
		 gp_names_find(gp_place_names(g, &place, parse_docker_container,
					      ""),
			       ""));
}

/* One of the storage drivers' directories. */
static void look_at_storage(const struct gpreempt *g, struct gp_place place,
			    const char *dir,
			    struct gpreempt_container *container)
{
	static const char *const files[] = {
		"containers.json",
		"volatile-containers.json",
	};
	char path[MAX_PATH];
	const char *above = place.path;
	size_t i;

	place.path = path;
	place.directory = false;
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%.64s/%.63s/%s", above, dir,
			 files[i]);
		set_name(container,
			 gp_names_find(gp_place_names(g, &place, parse_storage,
						      container->id),
				       container->id));
	}
}

static void podman_name(const struct gpreempt *g, const struct gp_user *keeper,
			struct gpreempt_container *container)
{
	const struct gp_place storage = {
		.uid = keeper->uid,
		.gid = keeper->gid,
		.base = *keeper->home ? keeper->home : "/var/lib/containers",
		.path = *keeper->home ? ".local/share/containers/storage" :
					"storage",
		.directory = true,
	};
	char dirs[MAX_DIRS][64];
	const struct gp_names *found;
	size_t i, n;

	found = gp_place_names(g, &storage, parse_storage_dirs, NULL);
	/* They may make room for the files. */
	for (n = 0; n < found->count && n < MAX_DIRS; n++)
		snprintf(dirs[n], sizeof(dirs[n]), "%.63s", found->list[n].key);
	for (i = 0; i < n; i++)
		look_at_storage(g, storage, dirs[i], container);
}

void gp_container_name(const struct gpreempt *g, int64_t user,
		       struct gpreempt_container *container)
{
	static const struct {
		const char *engine;
		void (*name)(const struct gpreempt *g,
			     const struct gp_user *keeper,
			     struct gpreempt_container *container);
	} readers[] = {
		{ "docker", docker_name },
		{ "podman", podman_name },
		{ "cri-o", podman_name },
		/* The path of a cgroup does not always tell who made it. */
		{ "container", docker_name },
		{ "container", podman_name },
	};
	struct gp_user keeper = { .uid = 0 }; /* the system: no home */
	size_t i;

	if (user != GPREEMPT_UNKNOWN &&
	    (gp_user_by_uid(g, user, &keeper) || *keeper.home != '/'))
		return;
	for (i = 0; !*container->name && i < ARRAY_SIZE(readers); i++)
		if (!strcmp(readers[i].engine, container->engine))
			readers[i].name(g, &keeper, container);
}
