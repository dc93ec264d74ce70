/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How busy GPUs are, and each process on them: shares of looks that a reader takes.
 *
 * A look costs one file of gpreempt.ko, whatever the number of processes. It says for each
 * process and GPU how many waves are in flight; a look with some is a busy one. What changes
 * slowly or costs more is read by a refresh: who is there, memory, slots. Nothing here opens
 * /dev/kfd, waits for a process or keeps a thread. One thread at a time may use an object.
 */
#ifndef CTL_FIGURES_H
#define CTL_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gpreempt/observe.h>

#include "hold/run-dir.h"
#include "lib/see/words.h"
#include "shared/util.h"

/* How a share was got. */
enum gp_method {
	GP_METHOD_NONE,	   /* unknown */
	GP_METHOD_PACKETS, /* packets unread in a queue that a slot holds */
	GP_METHOD_WAVES,   /* waves in flight */
	GP_METHODS
};

/* Words for enum gp_method. */
extern const char *const gp_method_names[GP_METHODS];

/* Share of looks in which something was busy. */
struct gp_share {
	enum gp_method method; /* the least of all looks */
	uint64_t looks;	       /* looks in which it was known */
	uint64_t busy;	       /* looks in which it was busy */
};

/* Returns the share in percent; negative: not known. */
double gp_share_percent(const struct gp_share *share);

/* Sum of a look up to now. */
struct gp_look {
	uint64_t number;
	enum gp_method method;
	bool busy;
	bool unknown; /* something was not known */
};

/* A process on a GPU; a number that is not known is GPREEMPT_UNKNOWN. */
struct gp_figure {
	int64_t gpu_id;
	struct gp_share share; /* since gp_figures_begin() */
	struct gp_share all;   /* since the process was seen first */
	int64_t queues;
	int64_t suspended; /* queues suspended by the debug interface */
	int64_t waves;
	int64_t vram;	    /* bytes */
	int64_t evicted;    /* 1: its queues are evicted now */
	int64_t evicted_ms; /* since the process has begun */
	/* time for which all its queues were suspended, since it was seen first */
	uint64_t suspended_ns;
	uint64_t holds; /* times that they became suspended or evicted since */
	bool held;
	struct gp_look look; /* the last one */
};

struct gp_process_figures {
	int64_t pid;	     /* first, for shr_compare_first() */
	uint64_t start;	     /* with pid its identity: see gpreempt_start_time() */
	char comm[32];	     /* name that the process has set: any bytes but 0 */
	int64_t active;	     /* slots that its queues hold, on all GPUs */
	int64_t slots;	     /* slots that its queues take */
	int64_t paused;	     /* 1: paused, by any program */
	int64_t debugged;    /* 1: debugged */
	uint64_t slots_held; /* sums of active and slots over all refreshes */
	uint64_t slots_taken;
	SHR_ARRAY(struct gp_figure, gpus); /* by gpu_id */
	int fd;				   /* readable when the process has ended, or -1 */
	bool there;			   /* seen in the refresh at hand */
	bool listed;			   /* the GPUs that it may use are among gpus */
};

struct gp_gpu_figures {
	struct gpreempt_node node; /* its first field is gpu_id */
	struct gp_share share;	   /* looks with waves of any process */
	int64_t waves;
	int64_t waves_max;
	int64_t vram;	   /* memory of all processes, bytes */
	int64_t vram_size; /* memory of the GPU */
	struct gp_look look;
};

struct gp_figures {
	struct gpreempt *g;
	enum gpreempt_source source;
	SHR_ARRAY(struct gp_process_figures, processes); /* by PID */
	SHR_ARRAY(struct gp_gpu_figures, gpus);		 /* in KFD's order */
	uint64_t looks;
	uint64_t look_ns;    /* when the last one was */
	uint64_t slow_ns;    /* when slots may be read again */
	uint64_t refresh_ns; /* when the last refresh was */
	size_t memory_at;    /* process whose memory was read last */
};

void gp_figures_init(struct gp_figures *f, struct gpreempt *g);
void gp_figures_clear(struct gp_figures *f);

/* Forget the shares so far, for the next interval. */
void gp_figures_begin(struct gp_figures *f);

/*
 * Look once. now: of shr_now_ns(). GPREEMPT_NO_MODULE and GPREEMPT_OLD_MODULE in *err
 * mean that no look can succeed.
 */
int gp_figures_look(struct gp_figures *f, uint64_t now, struct gpreempt_error *err);

/*
 * Find the processes that are there, and their memory. Slots are read when that took at most 0.4
 * % of a CPU since the last time, as each takes register reads. Memory is read again for as many
 * processes as take the same time, in turn.
 */
int gp_figures_refresh(struct gp_figures *f, uint64_t now, struct gpreempt_error *err);

#define GP_FIGURES_STEP "looking how busy the GPUs are"

/* Samples of how busy GPUs and processes are, with the owners of the processes. */

/* Owner of a process, found when the process is new. The owner chooses most of the texts. */
struct ctl_person {
	int64_t pid; /* first, for shr_compare_first() */
	uint64_t start;
	int64_t uid;
	char user[64]; /* its number, if it has no name; "": not known */
	char comm[64];
	char *command; /* its command line, or its name */
	struct gp_place place;
	bool holder; /* holds another process for us: no tenant */
};

/* Holder of a process. */
struct ctl_holder {
	int64_t pid; /* GPREEMPT_UNKNOWN: none */
	char as[64]; /* the command ("suspend", "guard"), or the name of a debugger */
};

struct ctl_sampler {
	struct gpreempt *g;
	struct gp_figures figures;
	SHR_ARRAY(struct ctl_person, people); /* by PID */
	/* period from one look to the next; 0: as often as 1 % of a CPU allows */
	uint64_t period_ns;
	uint64_t next_ns; /* when the next look is due */
	uint64_t slot_ns; /* the period that it is in */
	bool live;	  /* shows this host; false: a snapshot's files */
	bool blind;	  /* no look can succeed: see why */
	struct gpreempt_error why;
};

/*
 * period_ns: from one look to the next as a mean; 0: 20 ms, or as often as 1 % of a CPU
 * allows. Looks are at random moments, so that no rhythm of a process hides it.
 */
void ctl_sampler_init(struct ctl_sampler *s, struct gpreempt *g, uint64_t period_ns);
void ctl_sampler_clear(struct ctl_sampler *s);

/* Look, and set next_ns. What fails sets blind, or is a look less. */
void ctl_sampler_look(struct ctl_sampler *s);
/* Look until then, or until stop (or -1) is readable. true: it is. */
bool ctl_sampler_wait(struct ctl_sampler *s, uint64_t until_ns, int stop);

/* Find the processes that are there now, and their memory. 0 or -errno with *err. */
int ctl_sampler_refresh(struct ctl_sampler *s, struct gpreempt_error *err);

/* Find a process of the last refresh; NULL: not known. */
const struct ctl_person *ctl_sampler_person(const struct ctl_sampler *s, int64_t pid);
/* Find the holder of a process, by files of ours and of /proc: only if it may be held. */
void ctl_sampler_holder(struct ctl_sampler *s, int64_t pid, struct ctl_holder *out);

#endif
