/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks of this host: has it all that suspending takes? */
#ifndef CTL_DOCTOR_H
#define CTL_DOCTOR_H

#include <gpreempt/core.h>
#include <gpreempt/gpreempt.h>

#include "cli/table.h"
#include "lib/core/internal.h"

/* The result of a check. */
enum gp_health {
	GP_HEALTH_OK,
	GP_HEALTH_NOTE,	   /* good to know */
	GP_HEALTH_WARNING, /* something is missing or worse than it could be */
	GP_HEALTH_FAILED,  /* the only one that prevents suspending */
	GP_HEALTH_UNKNOWN, /* the check could not look */
};

/* Words for enum gp_health. */
extern const char *const gp_health_names[];

/* Result of one check. */
struct gp_finding {
	const char *name; /* a word */
	enum gp_health health;
	enum gpreempt_class failure; /* kind of failure, for GP_HEALTH_FAILED */
	char text[512];		     /* the finding */
	char next[192];		     /* next step, or "" */
};

/*
 * Check this host; @found gets each finding, in the order to read them. Opens
 * /dev/kfd for a moment, which makes the calling process a GPU process until it
 * ends. gpreempt_check() checks one process.
 */
void gp_doctor(struct gpreempt *g, void (*found)(void *data, const struct gp_finding *f),
	       void *data);

/*
 * Returns the class that a finding makes of the class before it. A host on which suspending
 * cannot work counts for more than the target, and that for more than a right that is missing.
 */
enum gpreempt_class gp_finding_class(const struct gp_finding *f, enum gpreempt_class before);

/* The checks of gp_doctor(). */

#define GP_AMDGPU "/sys/module/amdgpu"

/* A check. It fills in what it found; all is well if it fills in nothing. */
struct gp_doctor_check {
	const char *name;
	void (*run)(struct gpreempt *g, struct gp_finding *f);
	bool decides; /* a warning: this driver has no debug trap */
	bool debug;   /* makes sense only with a driver that has a debug trap */
};

extern const struct gp_doctor_check gp_host_checks[];
extern const struct gp_doctor_check gp_driver_checks[];
extern const struct gp_doctor_check gp_view_checks[];

__attribute__((format(printf, 2, 3))) void gp_find(struct gp_finding *f, const char *format, ...);
/* Fill in a finding with its health and its next step. */
__attribute__((format(printf, 4, 5))) void gp_find_bad(struct gp_finding *f, enum gp_health health,
						       const char *next, const char *format, ...);
/* Fill in a failure of that class: it prevents suspending. */
__attribute__((format(printf, 4, 5))) void gp_find_failed(struct gp_finding *f,
							  enum gpreempt_class class,
							  const char *next, const char *format,
							  ...);

/*
 * Known faults of drivers and firmware: the hosts to which each applies, and its report. A row
 * only warns. Nothing is decided by it: distributions move repairs to old releases.
 */

/* Facts about a GPU and its driver. */
enum gp_fact {
	GP_FACT_LINUX,	       /* 6012: the kernel's release, if its own driver is loaded */
	GP_FACT_GFX,	       /* gfx_target_version in KFD's topology */
	GP_FACT_MES,	       /* version of the firmware that schedules, gfx 11 and later */
	GP_FACT_CLIENTS,       /* processes that have a compute queue on the GPU */
	GP_FACT_QUEUES,	       /* compute queues of the process that has the most there */
	GP_FACT_WAITING,       /* compute queues there above the number of slots */
	GP_FACT_KERNEL_QUEUES, /* slots that the driver keeps: num_kcq */
	GP_FACTS,
};

#define GP_FAULT_CONDITIONS 4

struct gp_fault {
	const char *name;
	enum gp_health health; /* where it applies */
	/* All conditions must hold; one with last 0 is none. */
	struct {
		enum gp_fact fact;
		int64_t first;
		int64_t last; /* INT64_MAX: and later ones */
	} when[GP_FAULT_CONDITIONS];
	const char *symptom;
	const char *remedy;
	const char *thread; /* where to read about it */
};

extern const struct gp_fault gp_faults[]; /* ends with a row whose name is NULL */

/* A finding for each fault that applies or may, or one for all. */
void gp_doctor_faults(struct gpreempt *g, void (*found)(void *data, const struct gp_finding *f),
		      void *data);

#endif
