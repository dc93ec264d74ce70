/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Part of libgpreempt: which processes are meant. Included by gpreempt.h.
 *
 * Any thread, one at a time for each handle.
 */
#ifndef GPREEMPT_SELECT_H
#define GPREEMPT_SELECT_H

#include <gpreempt/core.h>

GPREEMPT_BEGIN_DECLS

/**
 * struct gpreempt_target - a GPU process, named for good
 * @pid: as the host counts
 * @start: when it started, in clock ticks since boot
 *
 * It does not change any more.
 */
struct gpreempt_target {
	pid_t pid;
	uint64_t start;
};

/** struct gpreempt_targets - what gpreempt_select() found, each once, by PID */
struct gpreempt_targets {
	size_t count;
	struct gpreempt_target *targets;
};

/**
 * gpreempt_select() - find the GPU processes that words name
 * @g: library
 * @words: each one of
 *	a PID;
 *	cgroup:PATH, and all below it; PATH begins at the root of the cgroups,
 *	with or without its mount point;
 *	role:online or role:offline, the role of the nearest cgroup of version 2,
 *	from the process's own upwards, that has one: the extended attribute
 *	"trusted.gpreempt.role" of its directory, which only root of the host
 *	(CAP_SYS_ADMIN) can read and write;
 *	user:NAME-OR-UID, the real user id, as the kernel has it; a NAME as
 *	in /etc/passwd;
 *	container:NAME-OR-ID, an id also by its beginning: 12 characters, or
 *	fewer if it is the only one. Ids are taken from the names of cgroups,
 *	names from the files of root's Docker, Podman and CRI-O if they can be
 *	read: regular files of root, up to 1 MiB, kept for a second. No name
 *	is known of a container below /user.slice/user-UID.slice;
 *	comm:NAME, the name of the process, of which the kernel keeps 15
 *	characters;
 *	cmd:PATTERN, an extended regular expression that matches somewhere in
 *	the first 8 KiB of the command line
 * @count: number of @words
 * @skip: or NULL; returns true for processes that are never targets, such as
 *	holders. For cmd:, called before the command line is read, too: a
 *	caller can leave out processes that do not answer
 * @data: given to @skip
 * @out: gets the processes, for gpreempt_list_free()
 * @err: or NULL; gets the reason
 *
 * This process is never among them. A word that names nothing is an error.
 *
 * A process chooses its own name and command line, and a user the ids of its
 * rootless containers: comm:, cmd: and container: are claims of the process.
 * What must be trusted goes by cgroup:, role: or user:. When a container
 * name or id fits several, the reason is GPREEMPT_SAME_CONTAINER, so that a
 * caller that looks again and again can leave out that word alone.
 */
int gpreempt_select(struct gpreempt *g, const char *const *words, size_t count,
		    bool (*skip)(void *data, pid_t pid), void *data, struct gpreempt_targets **out,
		    struct gpreempt_error *err);

/**
 * gpreempt_processes() - all GPU processes
 *
 * Works without root and without gpreempt.ko. This process is among them when
 * it has opened /dev/kfd.
 */
int gpreempt_processes(struct gpreempt *g, struct gpreempt_targets **out,
		       struct gpreempt_error *err);

/**
 * struct gpreempt_description - what any user can read of a process in /proc
 * @start: when it started, in clock ticks since boot
 * @ns_pid: its number in the innermost namespace that it is in
 * @tracer: PID of its tracer, a debugger or a holder; 0: none
 * @tracer_comm: name of the tracer
 * @comm: its name
 * @command: its command line, "" if it has none
 * @uid: its real user id, as the kernel has it; -1: not known
 * @reserved: 0; a later release may use it
 *
 * The process chooses @comm and @command, byte for byte: escape them before they
 * go to a terminal or a log.
 */
struct gpreempt_description {
	uint64_t start;
	pid_t ns_pid;
	pid_t tracer;
	char tracer_comm[64];
	char comm[64];
	char command[4096];
	uid_t uid;
	uint64_t reserved[7];
};

/**
 * gpreempt_describe() - what /proc says about a process
 * @g: library
 * @pid: process
 * @out: gets it
 *
 * The command line is in the memory of the process, which it can map from a file
 * system that never answers: this call, and a signal that is to end it, then waits
 * for as long as the process likes. Call it where that may happen: in a process
 * that nothing waits for. gpreempt_select() reads it too, for the word "cmd:".
 *
 * Return: 0, -ESRCH when there is no such process.
 */
int gpreempt_describe(struct gpreempt *g, pid_t pid, struct gpreempt_description *out);

GPREEMPT_END_DECLS

#endif
