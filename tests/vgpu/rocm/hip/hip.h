/* SPDX-License-Identifier: GPL-2.0-only */
/* Common to HIP programs: they end by SIGTERM, and print the call that fails. */
#ifndef ROCM_HIP_H
#define ROCM_HIP_H

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <hip/hip_runtime_api.h>

#define NS_PER_S  1000000000ULL
#define REPORT_NS 200000000ULL

static volatile sig_atomic_t stop_requested;

#define TRY(call)                                                                             \
	do {                                                                                  \
		hipError_t try_error = (call);                                                \
                                                                                              \
		if (try_error) {                                                              \
			fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, #call, \
				hipGetErrorString(try_error));                                \
			return -1;                                                            \
		}                                                                             \
	} while (0)

static void on_stop(int sig)
{
	(void)sig;
	stop_requested = 1;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static inline void catch_stop(void)
{
	struct sigaction action = { .sa_handler = on_stop };

	sigaction(SIGTERM, &action, NULL);
}

#endif
