/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef AGENT_LEAVE_COMMAND_H
#define AGENT_LEAVE_COMMAND_H

/*
 * For a process that stays when the command which made it ends: a session of its
 * own, no signals of a terminal's, the root directory, and the best priority that is
 * to be had. 0 or -errno, of the directory.
 */
int leave_command(void);

#endif
