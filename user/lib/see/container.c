// SPDX-License-Identifier: LGPL-2.1-or-later
/* The container, pod, job and role of a process, out of its cgroup. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "shared/cgroup.h"
#include "shared/text.h"
#include "shared/util.h"
#include "see.h"

/* The cgroups that a process is in, the containers that they are of, and their roles. */

#define MOUNT  "/sys/fs/cgroup"
#define SCOPE  ".scope"
#define LXC    "lxc.payload."
#define ID_LEN 64 /* hexadecimal digits */

/*
 * Engines, by a part of the cgroup's name, or else of the path before it. An id without an
 * engine is that of a helper, not of a container.
 */
static const struct {
	const char *part;
	const char *engine;
} engines[] = {
	{ "conmon", NULL },	      { "docker", "docker" },	      { "libpod", "podman" },
	{ "crio", "cri-o" },	      { "containerd", "containerd" }, { "nerdctl", "containerd" },
	{ "kubepods", "kubernetes" },
};

/* Turn the error of such a question into GP_DOUBT. Only a lack of our own stays as it is. */
static int gp_doubt(int code)
{
	return code == -ENOMEM || code == -EMFILE || code == -ENFILE ? code : GP_DOUBT;
}

int gp_each_cgroup(const struct gpreempt *g, pid_t pid,
		   int (*fn)(void *arg, const char *hierarchy, const char *path), void *arg)
{
	__cleanup_free char *text = NULL;
	char path[GP_PID_PATH];
	size_t len;
	int ret;

	gp_pid_path(path, "/proc", pid, "cgroup");
	ret = gp_read_text(g, path, &text, &len);
	/* The process is gone. */
	if (ret == -ENOENT || ret == -ESRCH)
		return 0;
	return ret ? gp_doubt(ret) : shr_cgroup_each(text, fn, arg);
}

/* Is path, behind head, the cgroup or below it? head may be the cgroup's. */
static bool is_below(const char *path, const char *cgroup)
{
	size_t len;

	path += strspn(path, "/");
	cgroup += strspn(cgroup, "/");
	len = strlen(cgroup);
	while (len && cgroup[len - 1] == '/')
		len--;
	return !strncmp(path, cgroup, len) && (!len || !path[len] || path[len] == '/');
}

static int match_path(void *arg, const char *hierarchy, const char *path)
{
	size_t len = strlen(hierarchy);
	const char *cgroup = arg;

	if (!strncmp(cgroup, MOUNT, strlen(MOUNT)))
		cgroup += strlen(MOUNT);
	if (is_below(path, cgroup))
		return 1;
	/* The first version has a mount point for each hierarchy. */
	if (!len || cgroup == arg)
		return 0;
	cgroup += strspn(cgroup, "/");
	return !strncmp(cgroup, hierarchy, len) && strchr("/", cgroup[len]) &&
	       is_below(path, cgroup + len);
}

int gp_in_cgroup(const struct gpreempt *g, pid_t pid, const char *cgroup)
{
	return gp_each_cgroup(g, pid, match_path, (void *)cgroup);
}

static const char *find_engine(const char *name, size_t len, const char *path, size_t path_len)
{
	bool pod = memmem(path, path_len, "kubepods", strlen("kubepods"));
	size_t i;

	for (i = 0; i < ARRAY_SIZE(engines); i++)
		if (memmem(name, len, engines[i].part, strlen(engines[i].part)))
			return pod && engines[i].engine ? "kubernetes" : engines[i].engine;
	for (i = 1; i < ARRAY_SIZE(engines); i++)
		if (memmem(path, path_len, engines[i].part, strlen(engines[i].part)))
			return engines[i].engine;
	return "container";
}

static bool is_id(const char *at)
{
	return strspn(at, "0123456789abcdef") >= ID_LEN;
}

/* Is a cgroup of that name, at that place in path, a container's? */
static bool parse_component(const char *path, const char *name, size_t len,
			    struct gp_container *out)
{
	const char *engine = "lxc";

	memset(out, 0, sizeof(*out));
	if (len > strlen(LXC) && !strncmp(name, LXC, strlen(LXC))) {
		snprintf(out->id, sizeof(out->id), "%.*s", (int)(len - strlen(LXC)),
			 name + strlen(LXC));
		strcpy(out->name, out->id);
	} else {
		if (len > strlen(SCOPE) &&
		    !memcmp(name + len - strlen(SCOPE), SCOPE, strlen(SCOPE)))
			len -= strlen(SCOPE);
		if (len < ID_LEN || !is_id(name + len - ID_LEN) ||
		    (len > ID_LEN && !strchr("-:.", name[len - ID_LEN - 1])))
			return false;
		engine = find_engine(name, len, path, name - path);
		if (!engine)
			return false;
		memcpy(out->id, name + len - ID_LEN, ID_LEN);
	}
	snprintf(out->engine, sizeof(out->engine), "%s", engine);
	return true;
}

/* Is the path a task of ctr's: /NAMESPACE/ID, which containerd knows? */
static bool is_task(const struct gpreempt *g, const char *path, struct gp_container *out)
{
	char dir[256], space[64], id[64];

	if (sscanf(path, "/%63[^/]/%63[^/]", space, id) != 2 || strstr(space, ".slice") ||
	    is_id(id))
		return false;
	snprintf(dir, sizeof(dir), GP_CONTAINERD "/%s/%s", space, id);
	if (gp_look_in(g, dir) <= 0)
		return false;
	memset(out, 0, sizeof(*out));
	strcpy(out->engine, "containerd");
	strcpy(out->id, id);
	strcpy(out->name, id);
	return true;
}

struct container_walk {
	const struct gpreempt *g;
	int (*fn)(void *arg, const struct gp_container *container, const char *path);
	void *arg;
};

static int walk_path(void *arg, const char *hierarchy, const char *path)
{
	struct container_walk *walk = arg;
	struct gp_container task;
	const char *at = path;
	int ret;

	(void)hierarchy;
	if (walk->g && is_task(walk->g, path, &task)) {
		ret = walk->fn(walk->arg, &task, path);
		if (ret)
			return ret;
	}
	while (*at) {
		struct gp_container container;
		size_t len;

		at += strspn(at, "/");
		len = strcspn(at, "/");
		if (len && parse_component(path, at, len, &container)) {
			ret = walk->fn(walk->arg, &container, path);
			if (ret)
				return ret;
		}
		at += len;
	}
	return 0;
}

/*
 * Call fn with each container of a process, the outermost first, without names, and
 * with the path of its cgroup, until it returns other than 0.
 */
static int each_container(const struct gpreempt *g, pid_t pid,
			  int (*fn)(void *arg, const struct gp_container *container,
				    const char *path),
			  void *arg)
{
	struct container_walk walk = { .g = g, .fn = fn, .arg = arg };

	return gp_each_cgroup(g, pid, walk_path, &walk);
}

int64_t gp_slice_user(const char *path)
{
	/* Only root and its systemd make a cgroup with such a path. */
	static const char head[] = "/user.slice/user-", tail[] = ".slice/";
	const char *at = path + strlen(head);
	size_t digits;

	if (strncmp(path, head, strlen(head)))
		return GPREEMPT_UNKNOWN;
	digits = strspn(at, "0123456789");
	if (!digits || digits > 10 || strncmp(at + digits, tail, strlen(tail)))
		return GPREEMPT_UNKNOWN;
	return strtoll(at, NULL, 10);
}

static int take_outer(void *arg, const struct gp_container *container, const char *path)
{
	(void)path;
	memcpy(arg, container->id, sizeof(container->id));
	return 1;
}

bool gp_outer_container(const struct gpreempt *g, const char *path, char *id)
{
	struct container_walk walk = { .g = g, .fn = take_outer, .arg = id };

	return walk_path(&walk, "", path);
}

static void fill_box(struct gp_box *box, const struct gp_container *container, const char *path)
{
	memset(box, 0, sizeof(*box));
	memcpy(box->id, container->id, sizeof(box->id));
	box->user = gp_slice_user(path);
	gp_outer_container(NULL, path, box->outer);
}

static bool same_box(const struct gp_box *a, const struct gp_box *b)
{
	return a->user == b->user && !strcmp(a->id, b->id) && !strcmp(a->outer, b->outer);
}

static void gp_container_name(struct gpreempt *g, struct gp_container *container);

/* A user can make a cgroup of any name in its own slice, with any id. */
static void add_name(struct gpreempt *g, const char *path, struct gp_container *container)
{
	if (gp_slice_user(path) == GPREEMPT_UNKNOWN)
		gp_container_name(g, container);
}

/* Search for the container that the caller means. */
struct search {
	struct gpreempt *g;
	const char *name;
	bool by_name; /* else by the beginning of the id */
	struct gp_box *box;
	int several; /* 0, -EEXIST or -ENOTUNIQ */
};

static int look_at_container(void *arg, const struct gp_container *found, const char *path)
{
	struct gp_container container = *found;
	struct search *search = arg;
	struct gp_box box;

	if (search->by_name) {
		add_name(search->g, path, &container);
		if (strcmp(container.name, search->name) && strcmp(container.id, search->name))
			return 0;
	} else if (strncmp(container.id, search->name, strlen(search->name))) {
		return 0;
	}
	fill_box(&box, &container, path);
	if (!*search->box->id)
		*search->box = box;
	else if (strcmp(search->box->id, box.id))
		search->several = search->by_name ? -ENOTUNIQ : -EEXIST;
	else if (!same_box(search->box, &box))
		search->several = -ENOTUNIQ;
	return 0;
}

static void look_at_all(struct search *search, const struct gpreempt_targets *processes)
{
	size_t i;

	for (i = 0; i < processes->count; i++)
		each_container(search->g, processes->targets[i].pid, look_at_container, search);
}

int gp_find_container(struct gpreempt *g, const struct gpreempt_targets *processes,
		      const char *name, struct gp_box *box)
{
	struct search search = {
		.g = g,
		.name = name,
		.by_name = true,
		.box = box,
	};

	memset(box, 0, sizeof(*box));
	look_at_all(&search, processes);
	search.by_name = false;
	if (!*box->id)
		look_at_all(&search, processes);
	return *box->id ? search.several : -ENOENT;
}

static int compare_box(void *arg, const struct gp_container *container, const char *path)
{
	struct gp_box box;

	fill_box(&box, container, path);
	return same_box(arg, &box);
}

int gp_in_container(const struct gpreempt *g, pid_t pid, const struct gp_box *box)
{
	return each_container(g, pid, compare_box, (void *)box);
}

struct first {
	struct gpreempt *g;
	struct gp_container *out;
};

static int take_first(void *arg, const struct gp_container *container, const char *path)
{
	struct first *first = arg;

	*first->out = *container;
	add_name(first->g, path, first->out);
	return 1;
}

int gp_container(struct gpreempt *g, pid_t pid, struct gp_container *out)
{
	struct first first = { .g = g, .out = out };
	int ret = each_container(g, pid, take_first, &first);

	return ret == 1 ? 0 : ret ? ret : -ENOENT;
}

int gp_role_root(const struct gpreempt *g)
{
	return g->ops->open_cgroups(g->be);
}

/* State of a walk over the lines of /proc/PID/cgroup. */
struct role_look {
	int root;
	struct gp_role_value value; /* value of the deepest cgroup that has a role, so far */
	int level;		    /* its level */
	int levels;		    /* how many were looked at */
	int error;
	struct gp_role_own *own; /* NULL: not wanted */
};

static int take_role(void *arg, int dir)
{
	struct role_look *look = arg;
	struct gp_role_value value;
	int ret = gp_role_at(dir, &value);

	look->levels++;
	if (ret || value.role == GPREEMPT_ROLE_NONE)
		return ret;
	look->value = value;
	look->level = look->levels;
	return 0;
}

/* Name the cgroup of the role, which is so many levels below the root. */
static void note_own(const struct role_look *look, const char *path)
{
	struct gp_role_own *own = look->own;
	size_t len = 0;
	int level;

	for (level = 0; level < look->level; level++) {
		len += strspn(path + len, "/");
		len += strcspn(path + len, "/");
	}
	strcpy(own->words, look->value.words);
	snprintf(own->cgroup, sizeof(own->cgroup), "%.*s", len < sizeof(own->cgroup) ? (int)len : 0,
		 path);
}

static int look_for_role(void *arg, const char *hierarchy, const char *path)
{
	struct role_look *look = arg;

	/* A path that begins with ".." is out of sight of our cgroup namespace. */
	if (look->root < 0 || *hierarchy || (!strncmp(path, "/..", 3) && strchr("/", path[3])))
		return 0;
	look->value = (struct gp_role_value){ .role = GPREEMPT_ROLE_NONE };
	look->level = look->levels = 0;
	look->error = shr_cgroup_walk(look->root, path, take_role, look);
	if (look->own)
		note_own(look, path);
	return 0;
}

/* @ret: of gp_each_cgroup(). */
static int role_answer(const struct role_look *look, int ret)
{
	if (look->root < 0)
		return look->root == -ENOENT ? GPREEMPT_ROLE_NONE : look->root;
	if (!ret && look->error && look->value.role != GPREEMPT_ROLE_OFFLINE)
		ret = gp_doubt(look->error);
	return ret ? ret : (int)look->value.role;
}

int gp_role(const struct gpreempt *g, int root, pid_t pid, struct gp_role_own *own)
{
	struct role_look look = { .root = root, .own = own };
	int tries = 3, ret = 0;

	/* The process can move, and its cgroup be removed, between two calls. */
	if (own)
		*own->words = '\0';
	while (root >= 0 && tries--) {
		look.error = 0;
		ret = gp_each_cgroup(g, pid, look_for_role, &look);
		if (ret || look.error != -ENOENT)
			break;
	}
	return role_answer(&look, ret);
}

/* A pod's id in the name of its cgroup: kubepods-burstable-pod<uid>.slice, pod<uid>. */
static void take_pod(const char *name, size_t len, struct gp_place *out)
{
	static const char word[] = "pod";
	const char *at = name;
	size_t n, i;

	while ((at = memmem(at, name + len - at, word, strlen(word)))) {
		at += strlen(word);
		n = strspn(at, "0123456789abcdef-_");
		if (n != 36)
			continue;
		memcpy(out->pod_uid, at, n);
		/* systemd has "-" for levels. */
		for (i = 0; i < n; i++)
			if (out->pod_uid[i] == '_')
				out->pod_uid[i] = '-';
		return;
	}
}

static void take_job(const char *name, size_t len, struct gp_place *out)
{
	static const char head[] = "job_";
	size_t n = strspn(name + strlen(head), "0123456789");

	if (len == strlen(head) + n && n && n < sizeof(out->job))
		snprintf(out->job, sizeof(out->job), "%.*s", (int)n, name + strlen(head));
}

struct place_look {
	struct gpreempt *g;
	struct gp_place *out;
	struct role_look role;
};

static int take_place(void *arg, const char *hierarchy, const char *path)
{
	struct place_look *look = arg;
	struct gp_place *out = look->out;
	struct first first = { .g = look->g, .out = &out->in };
	struct container_walk walk = { .g = look->g, .fn = take_first, .arg = &first };
	bool kube = strstr(path, "kubepods");
	bool jobs = strstr(path, "slurm") || !strncmp(path, "/spur/", 6);
	const char *at = path;

	if (!*out->cgroup || !*hierarchy)
		snprintf(out->cgroup, sizeof(out->cgroup), "%s", path);
	if (!*out->in.id)
		walk_path(&walk, hierarchy, path);
	look_for_role(&look->role, hierarchy, path);
	while (*at && gp_slice_user(path) == GPREEMPT_UNKNOWN) {
		size_t len = strcspn(at += strspn(at, "/"), "/");

		if (kube && !*out->pod_uid && len)
			take_pod(at, len, out);
		if (jobs && !*out->job && !strncmp(at, "job_", 4))
			take_job(at, len, out);
		at += len;
	}
	return 0;
}

int gp_place(struct gpreempt *g, int root, pid_t pid, struct gp_place *out)
{
	struct place_look look = { .g = g, .out = out, .role = { .root = root } };
	int ret;

	memset(out, 0, sizeof(*out));
	ret = gp_each_cgroup(g, pid, take_place, &look);
	/* The process has moved meanwhile: look again. */
	out->role = !ret && look.role.error == -ENOENT ? gp_role(g, root, pid, NULL) :
							 role_answer(&look.role, ret);
	return ret;
}

/*
 * Names of containers, from the files of root's own Docker, Podman, CRI-O and
 * containerd. Those of a user's engine are in the user's home, where we read nothing.
 * Names of users, as /etc/passwd has them: those of a directory service go by number,
 * for to ask one can take long, and guard may not wait.
 */

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

/* Find the file with that path, or one to replace. */
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
 * Returns the content of the file, up to @age_ns old. A missing file takes no place. If another
 * error occurs, the earlier content stays.
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
	/* A file that is too large counts as a damaged one: it has no names. */
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

/* Returns the string, or NULL for another type. */
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

/* Find the name in a list of containers in the form of containers/storage. */
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
				 "/var/lib/containers/storage/%s-containers/%scontainers.json",
				 drivers[d], prefixes[p]);
			set_name(container, find_name(get_json(g, path, age_ns), container->id));
		}
}

/*
 * Find the name in containerd's task: set by the kubelet, by nerdctl, or by ctr, which has no
 * other name than the id.
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
	if (pod && *pod && in && *in) {
		snprintf(container->pod, sizeof(container->pod), "%s", pod);
		snprintf(container->pod_namespace, sizeof(container->pod_namespace), "%s", in);
	}
}

/* Fill in the name, if the files of root's engines have it. */
static void gp_container_name(struct gpreempt *g, struct gp_container *container)
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
		/* The path of a cgroup does not always show which engine made it. */
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

/* Find a user in "name:x:uid:gid:...": the uid of @name, or with NULL the name of *uid. */
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

void gp_user_text(struct gpreempt *g, uid_t uid, char *buf, size_t size)
{
	if (gp_user_name(g, uid, buf, size))
		snprintf(buf, size, "%u", uid);
}

/* The names of roles, and the attribute of a cgroup that has one. */

static const char *const names[] = {
	[GPREEMPT_ROLE_NONE] = "none",
	[GPREEMPT_ROLE_ONLINE] = "online",
	[GPREEMPT_ROLE_OFFLINE] = "offline",
};

const char *gp_role_name(enum gpreempt_role role)
{
	return names[role];
}

int gp_role_by_name(const char *name, size_t len, enum gpreempt_role *out)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (strlen(names[i]) != len || memcmp(names[i], name, len))
			continue;
		*out = i;
		return 0;
	}
	return -EINVAL;
}

int gp_role_parse(const char *text, size_t len, struct gp_role_value *out)
{
	const char *blank = len ? memchr(text, ' ', len) : NULL;
	size_t name = blank ? (size_t)(blank - text) : len, words = blank ? len - name - 1 : 0;
	bool plain = words < sizeof(out->words);
	size_t i;

	if ((blank && !words) || gp_role_by_name(text, name, &out->role))
		return -EINVAL;
	for (i = name; i < len; i++)
		plain &= text[i] >= ' ' && text[i] <= '~';
	if (!plain)
		strcpy(out->words, "?");
	else
		snprintf(out->words, sizeof(out->words), "%.*s", (int)words,
			 words ? blank + 1 : "");
	return 0;
}

void gp_role_text(const struct gp_role_value *value, char text[GP_ROLE_TEXT])
{
	snprintf(text, GP_ROLE_TEXT, "%s%s%s", gp_role_name(value->role), *value->words ? " " : "",
		 value->words);
}

int gp_role_at(int dir, struct gp_role_value *out)
{
	char text[4 * GP_ROLE_WORDS];
	ssize_t n = fgetxattr(dir, GP_ROLE_ATTRIBUTE, text, sizeof(text));

	/* A value that is no role counts as none. */
	*out = (struct gp_role_value){ .role = GPREEMPT_ROLE_NONE };
	if (n < 0 && errno != ENODATA && errno != ERANGE && errno != EOPNOTSUPP)
		return -errno;
	if (n > 0)
		gp_role_parse(text, n, out);
	return 0;
}
