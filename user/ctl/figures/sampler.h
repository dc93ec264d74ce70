/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples of how busy GPUs and processes are, with who these processes are: for
 * commands that show it.
 */
#ifndef CTL_SAMPLER_H
#define CTL_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/holder-lock.h"
#include "lib/figures/figures.h"
#include "lib/select/words.h"

/* Who a process is: found out when it is new. Its user chooses most of the texts. */
struct ctl_person {
	int64_t pid; /* first, for shr_compare_first() */
	uint64_t start;
	int64_t uid;
	char user[64]; /* its number, if it has no name; "": not known */
	char comm[64];
	char *command; /* its command line, or its name */
	struct gp_place place;
	bool holder; /* it holds another process for us: no tenant */
};

/* Who holds a process now. */
struct ctl_holder {
	int64_t pid; /* GPREEMPT_UNKNOWN: none */
	char as[64]; /* the command ("suspend", "guard"), or the name of a debugger */
};

struct ctl_sampler {
	struct gpreempt *g;
	struct gp_figures figures;
	SHR_ARRAY(struct ctl_person, people); /* by PID */
	uint64_t period_ns;		      /* asked for; 0: what 1 % of a CPU allows */
	uint64_t next_ns;		      /* when the next look is due */
	uint64_t slot_ns;		      /* the period that it is in */
	bool live;			      /* of this host; false: of a snapshot's files */
	bool blind;			      /* no look can succeed: see why */
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

/* Who is there now, and what memory they have. 0 or -errno with *err. */
int ctl_sampler_refresh(struct ctl_sampler *s, struct gpreempt_error *err);

/* Of a process of the last refresh; NULL: not known. */
const struct ctl_person *ctl_sampler_person(const struct ctl_sampler *s, int64_t pid);
/* By files of ours and of /proc: ask for those alone that may be held. */
void ctl_sampler_holder(struct ctl_sampler *s, int64_t pid, struct ctl_holder *out);

#endif
