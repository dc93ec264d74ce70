// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "shared/cgroup.h"
#include "util.h"

/* /proc/PID/cgroup */

int shr_cgroup_each(char *text, int (*fn)(void *arg, const char *hierarchy, const char *path),
		    void *arg)
{
	char *line, *rest = NULL;
	int ret = 0;

	for (line = strtok_r(text, "\n", &rest); line && !ret; line = strtok_r(NULL, "\n", &rest)) {
		char *hierarchy = strchr(line, ':');
		char *path = hierarchy ? strchr(hierarchy + 1, ':') : NULL;

		if (!path || path[1] != '/')
			continue;
		*path++ = '\0';
		ret = fn(arg, hierarchy + 1, path);
	}
	return ret;
}

/* A list of controllers, or the name of a hierarchy without any. */
static bool has_freezer(const char *hierarchy)
{
	static const char name[] = "freezer";

	while (*hierarchy) {
		size_t len = strcspn(hierarchy, ",");

		if (len == strlen(name) && !memcmp(hierarchy, name, len))
			return true;
		hierarchy += len;
		hierarchy += strspn(hierarchy, ",");
	}
	return false;
}

struct place {
	char *buf;
	size_t size;
	int ret;
};

static int take_path(void *arg, const char *hierarchy, const char *path)
{
	/* The root cannot be frozen. */
	bool old = has_freezer(hierarchy) && path[1];
	struct place *place = arg;

	if (!old && *hierarchy)
		return 0;
	place->ret = strlen(path) < place->size ? 0 : -ENAMETOOLONG;
	if (!place->ret)
		strcpy(place->buf, path);
	return old && !place->ret ? -ENOTSUP : place->ret;
}

int shr_cgroup_parse(char *text, char *buf, size_t size)
{
	struct place place = { .buf = buf, .size = size };

	buf[0] = '\0';
	return shr_cgroup_each(text, take_path, &place);
}

/* Read the whole text. 0, -ENODATA: it is empty, or -errno. */
static int read_text(const char *file, char **text)
{
	size_t room = 0;
	ssize_t n;
	FILE *f;
	int ret;

	f = fopen(file, "re");
	if (!f)
		return -errno;
	errno = ENODATA;
	n = getdelim(text, &room, '\0', f);
	ret = n < 0 ? -errno : 0;
	fclose(f);
	return ret;
}

int shr_cgroup_of(pid_t pid, char *buf, size_t size)
{
	__cleanup_free char *text = NULL;
	char name[64] = "/proc/self/cgroup";
	int ret;

	if (pid)
		snprintf(name, sizeof(name), "/proc/%d/cgroup", pid);
	buf[0] = '\0';
	ret = read_text(name, &text);
	if (!ret)
		return shr_cgroup_parse(text, buf, size);
	return ret == -ENODATA ? 0 : ret == -ENOENT ? -ESRCH : ret;
}

/* The tree of cgroups */

int shr_find_mount(const char *type, const char *option, char *buf, size_t size)
{
	struct mntent *entry;
	bool found = false;
	FILE *f;

	f = setmntent("/proc/self/mounts", "re");
	if (!f)
		return -errno;
	while (!found && (entry = getmntent(f)))
		found = !strcmp(entry->mnt_type, type) && (!option || hasmntopt(entry, option)) &&
			strlen(entry->mnt_dir) < size && strcpy(buf, entry->mnt_dir);
	endmntent(f);
	return found ? 0 : -ENOENT;
}

int shr_cgroup_root(void)
{
	char mount[PATH_MAX];
	int ret, fd;

	ret = shr_find_mount("cgroup2", NULL, mount, sizeof(mount));
	if (ret)
		return ret;
	fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The next component, and the path behind it. False: there is none. */
static bool next_part(const char **path, const char **part, size_t *len)
{
	*part = *path + strspn(*path, "/");
	*len = strcspn(*part, "/");
	*path = *part + *len;
	return *len;
}

static bool is_up(const char *part, size_t len)
{
	return len == 2 && !memcmp(part, "..", 2);
}

bool shr_cgroup_goes_up(const char *path)
{
	const char *part;
	size_t len;

	while (next_part(&path, &part, &len))
		if (is_up(part, len))
			return true;
	return false;
}

static int open_part(int dir, const char *part, size_t len)
{
	char name[NAME_MAX + 1];
	int fd;

	if (len > NAME_MAX || is_up(part, len))
		return -ENOENT;
	memcpy(name, part, len);
	name[len] = '\0';
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* How much of a path is looked at; the kernel may have cut the last component. */
static size_t known_length(const char *path)
{
	const char *at = path, *end = path, *part;
	bool cut = strlen(path) >= SHR_CGROUP_CUT;
	int level = 0;
	size_t len;

	while (level++ < SHR_CGROUP_LEVELS && next_part(&at, &part, &len) && !(cut && !*at))
		end = at;
	return end - path;
}

int shr_cgroup_walk(int root, const char *path, int (*fn)(void *arg, int dir), void *arg)
{
	const char *part, *end = path + known_length(path);
	int dir = root, ret = 0;
	size_t len;

	while (!ret && path < end && next_part(&path, &part, &len)) {
		int next = open_part(dir, part, len);

		if (dir != root)
			close(dir);
		dir = next;
		ret = dir < 0 ? dir : fn(arg, dir);
	}
	if (dir != root && dir >= 0)
		close(dir);
	return ret;
}

/* Is that component the cgroup of the container? */
static bool is_container(const char *part, size_t n, const char *id, size_t len)
{
	static const char scope[] = ".scope";

	if (n > strlen(scope) && !memcmp(part + n - strlen(scope), scope, strlen(scope)))
		n -= strlen(scope);
	return len && n >= len && !memcmp(part + n - len, id, len) &&
	       (n == len || strchr("-:.", part[n - len - 1]));
}

bool shr_cgroup_cut(char *path, const char *id, size_t len)
{
	const char *at = path, *part;
	size_t n;

	while (next_part(&at, &part, &n))
		if (is_container(part, n, id, len)) {
			path[part + n - path] = '\0';
			return true;
		}
	return false;
}

/* The freezer */

/* How long cgroup.freeze is 1 before neighbours that do not freeze are no reason. */
#define PATIENCE_NS NSEC_PER_SEC
/* How often to look at more than cgroup.events. */
#define LOOK_NS (100 * NSEC_PER_MSEC)
/* A look at the path takes at most one part in so many. */
#ifndef SHR_FREEZER_SHARE
#define SHR_FREEZER_SHARE 20
#endif
/* Threads of a process with an unknown cgroup that one look covers, at most. */
#define MOST_THREADS 32

enum {
	OWN_HIDDEN, /* no thread of it shows */
	OWN_RUNS,
	OWN_FROZEN,
};

/*
 * Is the thread frozen? Then it sleeps in do_freezer_trap(), which compilers make a part of
 * get_signal(); no other sleep in those two can be woken by a signal (kernel/signal.c; a stopped
 * thread has another state).
 */
static int look_at_thread(pid_t pid, int tid)
{
	const char *state;
	char text[512];
	ssize_t n;

	shr_read_start(text, sizeof(text), "/proc/%d/task/%d/stat", pid, tid);
	state = shr_stat_state(text);
	if (state && *state == 'R')
		return OWN_RUNS;
	if (!state || *state != 'S')
		return OWN_HIDDEN;
	n = shr_read_start(text, sizeof(text), "/proc/%d/task/%d/wchan", pid, tid);
	if (n <= 0 || !strcmp(text, "0"))
		return OWN_HIDDEN;
	return !strcmp(text, "get_signal") || !strcmp(text, "do_freezer_trap") ? OWN_FROZEN :
										 OWN_RUNS;
}

static int look_at_threads(pid_t pid, int most)
{
	struct dirent *entry;
	int own = OWN_HIDDEN;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return own;
	while (own != OWN_FROZEN && most && (entry = readdir(tasks))) {
		int one;

		if (*entry->d_name == '.')
			continue;
		most--;
		one = look_at_thread(pid, atoi(entry->d_name));
		own = one > own ? one : own;
	}
	closedir(tasks);
	return own;
}

/* Forget the last cgroup: close its files. */
static void forget(struct shr_freezer *f)
{
	while (f->levels)
		shr_close(&f->freeze[--f->levels]);
	shr_close(&f->events);
	shr_close(&f->dir);
	f->told = false;
}

static int add_level(void *arg, int dir)
{
	int fd = openat(dir, "cgroup.freeze", O_RDONLY | O_CLOEXEC);
	struct shr_freezer *f = arg;

	if (fd < 0)
		return -errno;
	f->set[f->levels] = false;
	f->freeze[f->levels++] = fd;
	shr_close(&f->dir);
	f->dir = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	return f->dir < 0 ? -errno : 0;
}

/* The root has no such file: it cannot be frozen. */
static int open_levels(struct shr_freezer *f, const char *path)
{
	int ret = shr_cgroup_walk(f->root, path, add_level, f);

	if (ret || !f->levels)
		return ret;
	f->events = openat(f->dir, "cgroup.events", O_RDONLY | O_CLOEXEC);
	return f->events < 0 ? -errno : 0;
}

/* Is it in the cgroup that we know? Another one can have the same path by now. */
static bool is_known(const struct shr_freezer *f, const char *path)
{
	char known[SHR_CGROUP_PATH];
	size_t len = known_length(path);
	struct stat now, then;

	if (!len || f->dir < 0)
		return !len && !f->levels;
	memcpy(known, path, len);
	known[len] = '\0';
	path = known + strspn(known, "/");
	return !fstatat(f->root, path, &now, AT_SYMLINK_NOFOLLOW) && !fstat(f->dir, &then) &&
	       now.st_dev == then.st_dev && now.st_ino == then.st_ino;
}

/*
 * Open the cgroup's files. 0, or -errno: the files that were known stay, or, without those, the
 * levels above the error.
 */
static int find_cgroup(struct shr_freezer *f, const char *path)
{
	struct shr_freezer new = *f;
	int ret;

	if (f->root < 0 && f->root != -ENOENT)
		f->root = shr_cgroup_root();
	if (f->root == -ENOENT)
		strcpy(f->path, path);
	if (f->root < 0)
		return f->root == -ENOENT ? 0 : f->root;
	if (is_known(f, path))
		return 0;
	new.root = f->root;
	new.levels = 0;
	new.dir = -1;
	new.events = -1;
	new.told = false;
	ret = open_levels(&new, path);
	if (ret && f->levels) {
		forget(&new);
		return ret;
	}
	forget(f);
	*f = new;
	strcpy(f->path, path);
	return ret;
}

/* Read cgroup.events. Close it once its cgroup is removed: poll() would return at once. */
static void read_events(struct shr_freezer *f)
{
	char text[256];
	ssize_t n;

	if (f->events < 0)
		return;
	n = pread(f->events, text, sizeof(text) - 1, 0);
	if (n < 0) {
		shr_close(&f->events);
		return;
	}
	text[n] = '\0';
	f->told = strstr(text, "frozen 1");
}

static void read_levels(struct shr_freezer *f, uint64_t now)
{
	bool any = false;
	char text[8];
	size_t i;

	for (i = 0; i < f->levels; i++) {
		if (pread(f->freeze[i], text, sizeof(text), 0) > 0)
			f->set[i] = *text == '1';
		any |= f->set[i];
	}
	if (!any)
		f->set_ns = 0;
	else if (!f->set_ns)
		f->set_ns = now;
}

static void look(struct shr_freezer *f)
{
	uint64_t now = shr_now_ns();
	bool told = f->told, unseen = f->lost && !f->levels;

	read_events(f);
	if (now >= f->next_ns || f->told != told) {
		read_levels(f, now);
		f->own = look_at_threads(f->pid, f->lost ? MOST_THREADS : 1);
		f->next_ns = now + LOOK_NS;
	}
	f->frozen = f->told || f->own == OWN_FROZEN ||
		    (f->set_ns && now >= f->set_ns + PATIENCE_NS) ||
		    (unseen && f->own == OWN_HIDDEN);
}

int shr_freezer_open(struct shr_freezer *f, pid_t pid)
{
	int ret;

	*f = (struct shr_freezer){
		.pid = pid,
		.root = -1,
		.dir = -1,
		.events = -1,
	};
	f->root = shr_cgroup_root();
	ret = shr_freezer_read(f);
	return ret ? ret : f->root < 0 ? f->root : 0;
}

/* Look at the path. 0, -ENOTSUP or -ESRCH. */
static int look_at_path(struct shr_freezer *f)
{
	char path[SHR_CGROUP_PATH];
	int tries = 3, ret;

	/* A move to another cgroup has no event, and can come between two calls. */
	do {
		ret = shr_cgroup_of(f->pid, path, sizeof(path));
		if (ret == -ENOTSUP)
			strcpy(f->path, path);
		if (ret == -ENOTSUP || ret == -ESRCH)
			return ret;
		if (!ret)
			ret = find_cgroup(f, path);
	} while (ret == -ENOENT && --tries);
	f->lost = ret;
	return 0;
}

int shr_freezer_read(struct shr_freezer *f)
{
	uint64_t start = shr_now_ns();
	int ret;

	if (start >= f->path_ns) {
		ret = look_at_path(f);
		if (ret)
			return ret;
		/* The kernel takes the square of the depth to print a path. */
		f->path_ns = shr_now_ns();
		f->path_ns += SHR_FREEZER_SHARE * (f->path_ns - start);
	}
	look(f);
	return 0;
}

void shr_freezer_close(struct shr_freezer *f)
{
	forget(f);
	shr_close(&f->root);
}
