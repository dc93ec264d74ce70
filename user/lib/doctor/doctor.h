/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Does this host have all that suspending takes? */
#ifndef GP_DOCTOR_H
#define GP_DOCTOR_H

#include <gpreempt/core.h>

/* The result of a check. */
enum gp_health {
	GP_HEALTH_OK,
	GP_HEALTH_NOTE,	   /* good to know */
	GP_HEALTH_WARNING, /* something is missing or worse than it could be */
	GP_HEALTH_FAILED,  /* this alone stands in the way of suspending */
	GP_HEALTH_UNKNOWN, /* it could not be looked at */
};

/* The words for it. */
extern const char *const gp_health_names[];

/* One check. */
struct gp_finding {
	const char *name; /* a word */
	enum gp_health health;
	enum gpreempt_class failure; /* the kind of failure, if it is one */
	char text[192];		     /* what was found */
	char next[192];		     /* what to do about it, or "" */
};

/*
 * Check this host; @found gets each finding, in the order to read them. Opens
 * /dev/kfd for a moment, which makes the calling process a GPU process until it
 * ends. gpreempt_check() checks one process.
 */
void gp_doctor(struct gpreempt *g, void (*found)(void *data, const struct gp_finding *f),
	       void *data);

/*
 * Can suspending work, by this finding and what the ones before came to? The host
 * comes before the target, and that it cannot before a right.
 */
enum gpreempt_class gp_finding_class(const struct gp_finding *f, enum gpreempt_class before);

#endif
