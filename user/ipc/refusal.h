/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a server sends before it closes a connection that it does not take. */
#ifndef IPC_REFUSAL_H
#define IPC_REFUSAL_H

#include <stddef.h>

#define IPC_REFUSAL_SIZE 64

/* Length of the packet; @code is a negative errno value. */
size_t gp_ipc_refusal_put(int code, char buf[IPC_REFUSAL_SIZE]);
/* 0: the packet is none. */
int gp_ipc_refusal_code(const char *buf, size_t len);

#endif
