/* SPDX-License-Identifier: GPL-2.0-only */
/* Attacks by which a tenant can make the process that suspends it wait. */
#ifndef LOAD_ATTACK_H
#define LOAD_ATTACK_H

#include "process.h"

/*
 * Does args->attack with args->attack_file. Returns when that file answers: 0, or -errno
 * and *what names the step.
 */
int load_attack(struct load_process *proc, const struct load_args *args, const char **what);

/* So many descriptors and 200 threads. 0 or -errno. */
int load_crowd(unsigned int files);
/* A timer of 1 kHz with a handler. 0 or -errno. */
int load_ticks(void);

#endif
