/* SPDX-License-Identifier: GPL-2.0-only */
/* Pods and containers in NRI's messages: which containers get a role. */
#ifndef NRI_PODS_H
#define NRI_PODS_H

#include <gpreempt/policy.h>

#include "ctl/nri/wire.h"

/* A running container, its main process, and the role that its pod asks for. */
typedef void pods_fn(void *arg, struct wire_bytes id, uint64_t pid, enum gpreempt_role role);

/*
 * Calls fn for each container whose pod asks for a role and is of one of the namespaces,
 * which have commas between. The message has pods in the field @first, and containers
 * in the next one. 0, -EBADMSG or -ENOMEM.
 */
int pods_each(struct wire_bytes message, unsigned int first, const char *namespaces, pods_fn *fn,
	      void *arg);

#endif
