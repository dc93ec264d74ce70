/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef AGENT_STOPPED_H
#define AGENT_STOPPED_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Has job control stopped that process? By the states of its threads in /proc: one
 * that has ended says nothing of the others. False if it cannot be read.
 */
bool process_is_stopped(pid_t pid);

#endif
