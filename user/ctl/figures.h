/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who uses the GPUs, in what state, and how busy: the one record of a process that list, top,
 * metrics, doctor --partition and pidmap print. How busy are shares of looks that a reader takes.
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

#include "cli/table.h"
#include "hold/run-dir.h"
#include "lib/see/words.h"
#include "shared/util.h"

/* How a share was got. */
enum gp_busy_by {
	GP_BUSY_BY_NONE,    /* unknown */
	GP_BUSY_BY_PACKETS, /* packets unread in a queue that a slot holds */
	GP_BUSY_BY_WAVES,   /* waves in flight */
	GP_BUSY_BYS
};

/* Words for enum gp_busy_by. */
extern const char *const gp_busy_by_names[GP_BUSY_BYS];

/* Share of looks in which something was busy. */
struct gp_share {
	enum gp_busy_by method; /* the least of all looks */
	uint64_t looks;		/* looks in which it was known */
	uint64_t busy;		/* looks in which it was busy */
};

/* Returns the share in percent; negative: not known. */
double gp_share_percent(const struct gp_share *share);

/* Sum of a look up to now. */
struct gp_look {
	uint64_t number;
	enum gp_busy_by method;
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

/* A process uses a GPU if it has a queue or memory there. It may have all GPUs open. */
static inline bool gp_figure_is_used(const struct gp_figure *gpu)
{
	return gpu && (gpu->queues > 0 || gpu->vram > 0);
}

#define CTL_ID_SHOWN 12 /* characters of a container's id, as engines show it */

/*
 * A process in KFD's list. One that has ended stays there while another process has a copy of its
 * descriptor: its queues can still run, and its memory is still taken.
 */
struct ctl_process {
	int64_t pid;	/* first, for shr_compare_first() */
	uint64_t start; /* with pid its identity: see gpreempt_start_time(); 0: not known */
	int fd;		/* readable when the process has ended, or -1 */
	bool there;	/* seen in the refresh at hand */
	bool listed;	/* the GPUs that it may use are among gpus */
	bool ended;
	bool holder; /* holds another process for us: no tenant */
	bool keeper; /* only keeps a descriptor of /dev/kfd: see ctl_sampler_keepers() */

	/* Identity, read when the process is new. Its user chooses most of the texts. */
	bool known;
	int64_t ns_pid; /* PID in its container, if it is another one */
	int64_t uid;
	char user[64]; /* its number, if it has no name; "": not known */
	char comm[64]; /* name that the process has set: any bytes but 0 */
	char *command; /* its command line, or its name; NULL: not known */
	struct gp_place place;
	char container[sizeof(((struct gp_container *)0)->name)]; /* name, or the id cut */
	const char *role;

	bool placed;  /* the numbers of its queues on each GPU are known */
	bool partial; /* they are from sysfs, which has ids, GPUs and types alone */
	/* Use, on all GPUs together. A number that is not known is GPREEMPT_UNKNOWN. */
	int64_t queues;
	int64_t suspended; /* queues that are */
	int64_t evicted;
	int64_t active; /* slots that its queues hold */
	int64_t slots;	/* slots that its queues take */
	int64_t waves;
	int64_t vram;
	int64_t paused;	     /* 1: paused, by any program */
	int64_t debugged;    /* 1: debugged */
	uint64_t slots_held; /* sums of active and slots over all refreshes */
	uint64_t slots_taken;
	char *gpu_list;	  /* gpu_ids with a queue or memory of it, commas between */
	char *index_list; /* indexes of the same; NULL: not known */
	SHR_ARRAY(struct gp_figure, gpus); /* by gpu_id */

	/* State and holder, found by each refresh */
	const char *state; /* a word of "list"; NULL: not known */
	int64_t held_by;   /* GPREEMPT_UNKNOWN: nothing holds it, or it is not known */
	char held_as[64];  /* the command ("suspend", "guard"), or the name of a debugger */
	const char *how;   /* "pause" or "debug"; NULL: not held */
	int64_t held_ns;   /* for how long a program of ours has held it */
	int64_t held_uid;  /* user for whom it does */
	char kept_by[256]; /* processes that may have its descriptor, if it has ended */
};

struct gp_gpu_figures {
	struct gpreempt_node node; /* its first field is gpu_id */
	struct gp_share share;	   /* looks with waves of any process */
	int64_t waves;
	int64_t waves_max;
	int64_t vram;	   /* memory of all processes, bytes */
	int64_t vram_used; /* memory in use, by all users; of the first partition of a device */
	int64_t vram_size; /* memory of the GPU */
	struct gp_look look;
};

struct gp_figures {
	struct gpreempt *g;
	enum gpreempt_source source;
	bool failed;				  /* the last look has */
	SHR_ARRAY(struct ctl_process, processes); /* by PID */
	SHR_ARRAY(struct gp_gpu_figures, gpus);	  /* in KFD's order */
	struct gp_gpus names;			  /* the names of the same GPUs */
	uint64_t looks;
	uint64_t look_ns;    /* when the last one was */
	uint64_t slow_ns;    /* when slots may be read again */
	uint64_t refresh_ns; /* when the last refresh was */
	size_t memory_at;    /* process whose memory was read last */
};

void gp_figures_init(struct gp_figures *f, struct gpreempt *g);
void gp_figures_clear(struct gp_figures *f);
/* Find a process, or add it. */
struct ctl_process *gp_figures_process(struct gp_figures *f, int64_t pid);
/* Find the processes in KFD's list; those that have left it are removed. 0 or -errno. */
int gp_figures_list(struct gp_figures *f, struct gpreempt_error *err);

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

/* Samples of how busy GPUs and processes are, with the identity of the processes. */

struct ctl_sampler {
	struct gpreempt *g;
	struct gp_figures figures;
	int cgroups; /* gp_role_root(), which ctl_sampler_clear() closes; or -errno: no roles */
	struct hold_owners owners;
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

/* Does it use one of these GPUs; with no ids, any? 1, 0, or GPREEMPT_UNKNOWN. */
int64_t ctl_process_uses(const struct ctl_process *p, const uint32_t *gpu_ids, size_t n);

/* Find the processes that are there now, with all that is known. 0 or -errno with *err. */
int ctl_sampler_refresh(struct ctl_sampler *s, struct gpreempt_error *err);
/* Find who they are, and not what they use. */
int ctl_sampler_who(struct ctl_sampler *s, struct gpreempt_error *err);
/*
 * Add the processes that have a descriptor of /dev/kfd and are not in KFD's list, as keepers; and
 * set kept_by of those that have ended. *unseen: processes that could not be looked at, the last
 * one with *code. After one of the functions above; the next of them removes the keepers. 0 or
 * -errno.
 */
int ctl_sampler_keepers(struct ctl_sampler *s, size_t *unseen, int *code);

#endif
