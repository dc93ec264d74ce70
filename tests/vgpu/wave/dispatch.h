/* SPDX-License-Identifier: GPL-2.0-only */
/* A dispatch whose waves the engine executes: what plugin.c asks of dispatch.c. */
#ifndef WAVE_DISPATCH_H
#define WAVE_DISPATCH_H

#include "group.h"
#include "vgpu_engine.h"

struct dispatch;

extern const char *const dispatch_no_code; /* there is no kernel at the address in the packet */

/* Each returns NULL or what is wrong; the dispatch is the caller's to free. */
const char *dispatch_start(struct dispatch *d, const struct engine_request *r);
const char *dispatch_run(struct dispatch *d, struct engine_request *r);
const char *dispatch_save(struct dispatch *d, struct engine_request *r);
const char *dispatch_restore(struct dispatch *d, const struct engine_request *r);
struct dispatch *dispatch_new(u64 number, struct wave_gpu *gpu);
void dispatch_free(struct dispatch *d);
struct dispatch **dispatch_find(u64 number);
bool dispatch_over(const struct dispatch *d);

#endif
