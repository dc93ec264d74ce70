/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cgroups of processes. */
#ifndef SHARED_CGROUP_H
#define SHARED_CGROUP_H

/*
 * Call fn for each line of the text of /proc/PID/cgroup, as "4:memory:/a/b", with the
 * names of the hierarchy ("": version 2) and the path of the cgroup, which begins with
 * "/", until fn returns other than 0. That or 0. A line that is none is passed over. The
 * text is cut into pieces.
 */
int shr_cgroup_each(char *text,
		    int (*fn)(void *arg, const char *hierarchy,
			      const char *path),
		    void *arg);

#endif
