/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTL_AMDLOG_H
#define CTL_AMDLOG_H

#include "lib/amdlog/amdlog.h"

/* A log that is open; each packet as of gp_amdlog_new(). 0 or -errno. */
int amdlog_read_fd(int fd, gp_amdlog_packet_fn packet, void *data, struct gp_amdlog **out);

#endif
