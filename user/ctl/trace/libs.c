// SPDX-License-Identifier: GPL-2.0-only
#include "ctl/command/dynlib.h"
#include "ctl/trace/libs.h"

#define TRACEFS_SONAME	  "libtracefs.so.1"
#define TRACEEVENT_SONAME "libtraceevent.so.1"

struct tracefs_calls tracefs;
struct tep_calls tep;
struct kbuffer_calls kbuffer;

#define TRACEFS_ROW(call) { "tracefs_" #call, offsetof(struct tracefs_calls, call) },
#define TEP_ROW(call)	  { "tep_" #call, offsetof(struct tep_calls, call) },
#define KBUFFER_ROW(call) { "kbuffer_" #call, offsetof(struct kbuffer_calls, call) },

static const struct dynlib_call tracefs_rows[] = {
	TRACEFS_CALLS(TRACEFS_ROW) DYNLIB_END,
};

static const struct dynlib_call tep_rows[] = {
	TEP_CALLS(TEP_ROW) DYNLIB_END,
};

static const struct dynlib_call kbuffer_rows[] = {
	KBUFFER_CALLS(KBUFFER_ROW) DYNLIB_END,
};

DYNLIB_NOTE(tracefs_note, "trace", "gpreempt-ctl trace", TRACEFS_SONAME);
DYNLIB_NOTE(traceevent_note, "trace", "gpreempt-ctl trace", TRACEEVENT_SONAME);

int trace_load_libs(void)
{
	int ret = 0;

	if (!tracefs.tracing_dir_is_mounted)
		ret = dynlib_load(TRACEFS_SONAME, "libtracefs1", tracefs_rows, &tracefs);
	if (!ret && !tep.read_number_field)
		ret = dynlib_load(TRACEEVENT_SONAME, "libtraceevent1", tep_rows, &tep);
	if (!ret && !kbuffer.read_event)
		ret = dynlib_load(TRACEEVENT_SONAME, "libtraceevent1", kbuffer_rows, &kbuffer);
	return ret;
}
