/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's tracing directory, made up: instances, probe events, the pages of a ring buffer.
 * The real libtraceevent reads formats and pages. Each step can fail.
 */
#ifndef FAKE_TRACEFS_H
#define FAKE_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/trace.h"

/* Put it in place of libtracefs, and an amdgpu that is a module. */
void fake_tracefs_setup(void);

/* Names that exist now: "name name ...", each with a blank behind. */
const char *fake_instances(void);
const char *fake_events(void); /* GROUP/NAME */
/* Left by another program. */
void fake_add_instance(const char *name);
void fake_add_event(const char *group, const char *name);

/* A step, and the errno it fails with: the name of a libtracefs function. */
extern const char *fake_fail_call;
extern int fake_fail_code;
/* Events at this symbol are refused with that. */
extern const char *fake_refused_symbol;

extern bool fake_mounted, fake_amdgpu, fake_module;
/* Contents of /proc/kallsyms (a file of this directory); NULL: it cannot be read. */
void fake_kallsyms(const char *text);
extern const char *fake_profile; /* kprobe_profile */
/* Were the events of the instance enabled before they were disabled? */
extern bool fake_enabled, fake_was_enabled;
/* Happens when they are enabled. */
extern void (*fake_on_enabled)(void);

/* A page of a CPU's ring buffer; events are added to the last one. */
void fake_page(uint64_t ns, bool missed);
/* Add an event of the function: its entry with the first two arguments, or its return. */
void fake_event(uint64_t delta_ns, int tid, const char *symbol, bool leave, uint32_t a, uint32_t b);

#endif
