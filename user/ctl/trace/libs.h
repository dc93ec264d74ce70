/* SPDX-License-Identifier: GPL-2.0-only */
/* libtracefs and libtraceevent, loaded when a trace begins. */
#ifndef CTL_TRACE_LIBS_H
#define CTL_TRACE_LIBS_H

#include <kbuffer.h>
#include <tracefs.h>

#define TRACEFS_CALLS(CALL)            \
	CALL(dynevent_create)          \
	CALL(dynevent_destroy)         \
	CALL(dynevent_free)            \
	CALL(dynevent_get_all)         \
	CALL(dynevent_info)            \
	CALL(dynevent_list_free)       \
	CALL(event_disable)            \
	CALL(event_enable)             \
	CALL(event_file_read)          \
	CALL(instance_create)          \
	CALL(instance_destroy)         \
	CALL(instance_file_open)       \
	CALL(instance_file_read)       \
	CALL(instance_file_write)      \
	CALL(instance_free)            \
	CALL(instance_set_buffer_size) \
	CALL(instances_walk)           \
	CALL(kprobe_alloc)             \
	CALL(kretprobe_alloc)          \
	CALL(list_add)                 \
	CALL(list_free)                \
	CALL(list_size)                \
	CALL(set_loglevel)             \
	CALL(system_events)            \
	CALL(tracing_dir_is_mounted)

#define TEP_CALLS(CALL)          \
	CALL(alloc)              \
	CALL(data_pid)           \
	CALL(data_type)          \
	CALL(find_event_by_name) \
	CALL(find_field)         \
	CALL(free)               \
	CALL(parse_event)        \
	CALL(read_number_field)

#define KBUFFER_CALLS(CALL)  \
	CALL(alloc)          \
	CALL(free)           \
	CALL(load_subbuffer) \
	CALL(missed_events)  \
	CALL(next_event)     \
	CALL(read_event)

/* Their functions, without "tracefs_", "tep_" and "kbuffer_". */
#define TRACEFS_POINTER(call) __typeof__(&tracefs_##call) call;
#define TEP_POINTER(call)     __typeof__(&tep_##call) call;
#define KBUFFER_POINTER(call) __typeof__(&kbuffer_##call) call;

extern struct tracefs_calls {
	TRACEFS_CALLS(TRACEFS_POINTER)
} tracefs;

extern struct tep_calls {
	TEP_CALLS(TEP_POINTER)
} tep;

extern struct kbuffer_calls {
	KBUFFER_CALLS(KBUFFER_POINTER)
} kbuffer;

/* Before all others. 0, or the exit status after an error message. */
int trace_load_libs(void);

#endif
