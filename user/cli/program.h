/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared libraries that one command needs. That command loads them: at the start of every command
 * the dynamic linker would take 20 times as long for them as for the rest of gpreempt-ctl.
 */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gpreempt/select.h>

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
