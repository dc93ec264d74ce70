/* SPDX-License-Identifier: GPL-2.0-only */
/* Libraries and programs that one command needs, and descriptions of processes. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <gpreempt/select.h>

/*
 * Shared libraries. The command that needs one loads it: at the start of every command the dynamic
 * linker would take 20 times as long for them as for the rest of gpreempt-ctl.
 */

/* A function of the library, and where in the table its address goes. */
struct dynlib_call {
	const char *name;
	size_t offset;
};

/* The last row of a table of struct dynlib rows. */
#define DYNLIB_END \
	{          \
		0  \
	}

/*
 * Fill the table with the addresses of all calls, up to one without a name.
 * The library stays loaded. 0, or the exit status after an error message.
 */
int dynlib_load(const char *soname, const char *package, const struct dynlib_call *calls,
		void *table);

/*
 * Tell packagers and tests which library is loaded that way, as "FDO dlopen
 * metadata" (https://uapi-group.org/specifications/specs/elf_dlopen_metadata):
 * for readelf -p .note.dlopen and dh_dlopenlibdeps.
 */
#define DYNLIB_NOTE(var, feature, why, soname)                                                   \
	__attribute__((used, retain, section(".note.dlopen"), aligned(4))) static const struct { \
		uint32_t name_size, text_size, type;                                             \
		char name[4];                                                                    \
		char text[sizeof(DYNLIB_TEXT(feature, why, soname))];                            \
	} var = {                                                                                \
		4,     sizeof(DYNLIB_TEXT(feature, why, soname)), 0x407c0c0a,                    \
		"FDO", DYNLIB_TEXT(feature, why, soname),                                        \
	}
#define DYNLIB_TEXT(feature, why, soname)                            \
	"[{\"feature\":\"" feature "\",\"description\":\"" why "\"," \
	"\"priority\":\"suggested\",\"soname\":[\"" soname "\"]}]"

/*
 * A program that a command runs for its output, in a process group of its own: Ctrl-C is for the
 * command, which ends its programs in order.
 */
struct ctl_child {
	char *const *argv; /* up to a NULL; the first is looked for in PATH */
	int in;		   /* stdin; negative: an empty one */
	size_t max;	   /* bytes that it may write to a file; 0: no limit */
	bool with_errors;  /* stderr goes to a file, too, else it is ours */
	int end;	   /* signal that it gets when this process ends */

	/* From here on by ctl_child_start(). */
	pid_t pid;    /* 0: it has ended */
	int pidfd;    /* readable when it has ended */
	int out, err; /* files without names; err: -1 without with_errors */
	int status;   /* a shell's, when it has ended */
};

/* Start it. 0 or -errno; ctl_child_end() is needed in both cases. */
int ctl_child_start(struct ctl_child *p);
/* Wait for its end, up to ns. True: it is there. */
bool ctl_child_wait(struct ctl_child *p, uint64_t ns);
/* Give it the signal, and SIGKILL after ns. One that no signal ends is left behind. */
void ctl_child_end(struct ctl_child *p, int signal, uint64_t ns);
/* Returns all that it has written to the file by now, for free(). */
char *ctl_child_text(int fd);
/*
 * Find a program of ours: beside this one, as it is built, else that one. The path is PATH_MAX
 * bytes long.
 */
const char *ctl_find_program(const char *name, const char *otherwise, char *path);

/* The next step after a program that cannot be run. */
#define CTL_NO_PROGRAM "is it installed, and in PATH?"

struct ctl_described {
	int code;  /* 0, or -errno: it has ended */
	bool mute; /* its memory did not answer: no command line */
	struct gpreempt_description who;
};

/*
 * Get the text of gpreempt_describe() for each process. A child reads the command lines, and is
 * left behind if it hangs; for a snapshot, this process reads them. For ctl_described_free(),
 * with the same list.
 */
struct ctl_described *ctl_describe_all(struct gpreempt *g, const struct gpreempt_targets *list,
				       bool live);
void ctl_described_free(struct ctl_described *all, const struct gpreempt_targets *list);

#endif
