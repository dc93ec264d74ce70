/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTL_COMMAND_HOLD_REQUEST_H
#define CTL_COMMAND_HOLD_REQUEST_H

#include "ctl/command/ctl.h"
#include "proto/hold.h"

/* Fill in which queues the command line means. */
void ctl_hold_request(struct hold_request *request,
		      const struct ctl_queue_args *args);

#endif
