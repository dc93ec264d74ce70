/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cgroup of a process, and whether it is frozen. A user chooses the names and the depth of the
 * cgroups below its own: so a cgroup is found from the root, a level at a time, and known again
 * by its inode; a look takes a few calls a level; and an error keeps the last answer.
 */
#ifndef SHARED_CGROUP_H
#define SHARED_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A process that is deeper has the role and the freezer of that level. */
#define SHR_CGROUP_LEVELS 32
/*
 * The longest path that the kernel writes. Of a longer one older kernels write nothing,
 * and newer ones so much: kernfs_path_from_node() in fs/kernfs/dir.c. So the last
 * component of a path of that length is not looked at.
 */
#define SHR_CGROUP_CUT 4095
/* Room for it, and for " (deleted)". */
#define SHR_CGROUP_PATH (SHR_CGROUP_CUT + 17)

/*
 * Call fn for each line of the text of /proc/PID/cgroup, as "4:memory:/a/b", with the names of the
 * hierarchy ("": version 2) and the path of the cgroup, which begins with "/", until fn returns
 * other than 0. That or 0. A line that is none is passed over. The text is cut into pieces.
 */
int shr_cgroup_each(char *text, int (*fn)(void *arg, const char *hierarchy, const char *path),
		    void *arg);

/*
 * Find the path of version 2 in a text of /proc/PID/cgroup, "" if there is none. 0; -ENOTSUP:
 * the process is in a cgroup of the freezer of version 1, whose path buf gets, and which stops a
 * process so that not even SIGKILL ends it; or -ENAMETOOLONG. The text is cut.
 */
int shr_cgroup_parse(char *text, char *buf, size_t size);

/*
 * Find the path of a process, 0: of this one. Also -ESRCH: there is no such process (or, for
 * this one, no cgroups); or -errno: the path is not known, -ENAMETOOLONG for one of 4,096 bytes
 * or more with kernels that do not cut it.
 */
int shr_cgroup_of(pid_t pid, char *buf, size_t size);

/* Find where that type is mounted. 0; -ENOENT: nowhere, or the path is too long; or -errno. */
int shr_find_mount(const char *type, const char *option, char *buf, size_t size);

/* A descriptor of the root of version 2; -ENOENT: it is not mounted; or -errno. */
int shr_cgroup_root(void);

/*
 * Call fn with a descriptor of each cgroup on the path, from the first below the root to
 * the last that is looked at, until it returns other than 0. That; 0; or -errno, of the
 * level that could not be opened.
 */
int shr_cgroup_walk(int root, const char *path, int (*fn)(void *arg, int dir), void *arg);

/* Is one of the components of the path ".."? */
bool shr_cgroup_goes_up(const char *path);

/*
 * Cut the path behind the outermost component that is the cgroup of that container: its
 * id, or with the name of an engine before it, as "docker-ID.scope". False: there is none.
 */
bool shr_cgroup_cut(char *path, const char *id, size_t len);

/* Follows whether a process is frozen by cgroup v2, from one look to the next. */
struct shr_freezer {
	pid_t pid;
	char path[SHR_CGROUP_PATH]; /* the last cgroup that was known */
	bool lost;		    /* its cgroup is not known now */
	bool frozen;		    /* the answer */
	int events;		    /* has POLLPRI when there is news; -1: there is no such file */

	/* Files of the last cgroup that was known, and of its ancestors: */
	int root, dir;
	int freeze[SHR_CGROUP_LEVELS]; /* cgroup.freeze of each level */
	bool set[SHR_CGROUP_LEVELS];   /* the file holds 1 */
	size_t levels;
	bool told;	  /* cgroup.events has "frozen 1" */
	int own;	  /* the state of its threads: see cgroup.c */
	uint64_t set_ns;  /* when the first cgroup.freeze was seen set; 0: none is */
	uint64_t next_ns; /* when to look at its threads and at cgroup.freeze */
	uint64_t path_ns; /* when to look at the path */
};

/*
 * Begin to follow a process. 0; -ENOENT: cgroup v2 is not mounted; -ENOTSUP: the process is in a
 * cgroup of the freezer of version 1, whose path is then in path; -ESRCH: it is gone; or -errno.
 */
int shr_freezer_open(struct shr_freezer *f, pid_t pid);
/*
 * Look again; f->events may be another one then. 0, -ENOTSUP or -ESRCH: no other error is
 * returned. The process is frozen when the kernel has frozen all processes of its cgroup, when
 * cgroup.freeze has been 1 in its cgroup or above for a second, or when a thread of it stands in
 * the freezer. A file that cannot be read keeps its last value.
 */
int shr_freezer_read(struct shr_freezer *f);
void shr_freezer_close(struct shr_freezer *f);

#endif
