/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTL_AMDLOG_H
#define CTL_AMDLOG_H

#include "lib/amdlog/amdlog.h"

/* "-" is stdin. 0, or the exit status after saying why not. */
int amdlog_read(const char *path, int64_t pid, struct gp_amdlog **out);
/*
 * A log that is open, of one process or all (0); each packet as of gp_amdlog_new().
 * 0 or -errno.
 */
int amdlog_read_fd(int fd, int64_t pid, gp_amdlog_packet_fn *packet, void *data,
		   struct gp_amdlog **out);

#endif
