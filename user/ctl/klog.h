/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's log: what amdgpu and KFD report in it about queues, preemptions and resets. The
 * caller feeds text in pieces of any size, and memory does not grow with it.
 *
 * A line counts if it is the kernel's own: dmesg in each of its forms, a journal, syslog,
 * /dev/kmsg. A number that no line has is GPREEMPT_UNKNOWN.
 */
#ifndef CTL_KLOG_H
#define CTL_KLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/util.h"

#define KLOG_TIME 48   /* bytes of a time, as text */
#define KLOG_GPU  16   /* bytes of a PCI address */
#define KLOG_LINE 2048 /* bytes of a line that are read; the rest is left out */
#define KLOG_MAX  1024 /* events that are kept; lines about more are counted */
#define KLOG_GPUS 64   /* GPUs that are kept; lines about more count for none */

/* The time of a line. */
struct klog_time {
	char text[KLOG_TIME]; /* text of the line, without brackets; "": none */
	int64_t us;	      /* since boot */
};

/* Lines of one kind, about the same GPU, process and queue. */
struct klog_event {
	const char *event;  /* a word */
	char gpu[KLOG_GPU]; /* PCI address, "": not in the line */
	int64_t pid;	    /* on the host */
	int64_t pasid;
	int64_t queue;	  /* id, which is its process's own */
	int64_t doorbell; /* in dwords, as mqds has it */
	int64_t count;
	int64_t line; /* number of the first */
	struct klog_time first, last;
};

/* A GPU. */
struct klog_gpu {
	char gpu[KLOG_GPU];
	/*
	 * Preemptions that failed. Lines that only follow from such a failure do not count again:
	 * the driver prints up to six for one.
	 */
	int64_t lost;
	int64_t silent;	     /* other messages that the firmware did not answer */
	int64_t resets;	     /* successful ones, of the GPU or of queues */
	int64_t bad_resets;  /* failed ones */
	int64_t page_faults; /* faults of processes */
	int64_t doorbell;    /* doorbell in the last failure's line */
	bool open;	     /* a failure, and no reset since */
	bool dead;	     /* the last reset failed */
	bool resetting;	     /* a reset has begun */
	struct klog_time last_lost, last_reset;
};

struct klog {
	SHR_ARRAY(struct klog_event, events); /* in the order of their first lines */
	struct klog_gpu gpus[1 + KLOG_GPUS];  /* the first one is for lines that name none */
	size_t n_gpus;			      /* without the first one */
	int64_t lines;
	int64_t driver_lines;	/* lines of amdgpu and KFD */
	int64_t left_out;	/* lines about more events than are kept */
	char before[KLOG_TIME]; /* last time that was not a difference */
	/* A line whose process may be in the next one. Without a count: none. */
	struct klog_event held;
	size_t carried;
	char carry[KLOG_LINE];
};

/* Read the next piece, from zeroes on. */
void klog_feed(struct klog *k, const char *data, size_t len);
/* The log ends here. */
void klog_end(struct klog *k);
void klog_free(struct klog *k);

/*
 * Print on one line what the log means for a suspend on that GPU, with its name. False: there is
 * nothing to report, and the text is empty.
 */
bool klog_text(const struct klog_gpu *gpu, char *buf, size_t size);

/* The running kernel's log, which a user without the right may not read. */
#ifndef HOST_ROOT /* unit tests have a host below another directory */
#define HOST_ROOT ""
#endif

/* Open it at its first record. Its reader never waits. A descriptor or -errno. */
int klog_open(void);
/* Read one record with a NUL behind it. Returns its length, 0 at the end of the log, or -errno. */
ssize_t klog_record(int fd, char *buf, size_t size);
/* Read the records from there on, as klog_live() does. */
int klog_rest(int fd, struct klog *k);
/*
 * Read the whole log and end it; at most 16 MiB and a quarter of a second. 0, or -errno: nothing
 * was read.
 */
int klog_live(struct klog *k);

#endif
