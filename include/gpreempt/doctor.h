/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Part of libgpreempt: does this host have all that suspending takes? Included
 * by gpreempt.h.
 */
#ifndef GPREEMPT_DOCTOR_H
#define GPREEMPT_DOCTOR_H

#include <gpreempt/core.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/**
 * enum gpreempt_health - the result of a check
 *
 * Only GPREEMPT_HEALTH_FAILED stands in the way of suspending. With a warning
 * something is missing or worse than it could be, a note is good to know, and
 * what is unknown could not be looked at.
 */
enum gpreempt_health {
	GPREEMPT_HEALTH_OK,
	GPREEMPT_HEALTH_NOTE,
	GPREEMPT_HEALTH_WARNING,
	GPREEMPT_HEALTH_FAILED,
	GPREEMPT_HEALTH_UNKNOWN,
};

/** gpreempt_health_name() - Return: the word for it. Any thread. */
const char *gpreempt_health_name(enum gpreempt_health health);

/**
 * struct gpreempt_finding - one check
 * @name: of the check, a word
 * @health: the result
 * @failure: the kind of failure, if it is one
 * @text: what was found
 * @next: what to do about it, or ""
 * @reserved: 0; a later release may use it
 */
struct gpreempt_finding {
	const char *name;
	enum gpreempt_health health;
	enum gpreempt_class failure;
	char text[192];
	char next[192];
	uint64_t reserved[4];
};

/** struct gpreempt_findings - all checks, in the order to read them */
struct gpreempt_findings {
	size_t count;
	struct gpreempt_finding *findings;
};

/**
 * gpreempt_doctor() - check this host
 * @g: library
 * @out: gets the findings, for gpreempt_findings_free()
 *
 * Opens /dev/kfd for a moment, which makes the calling process a GPU process
 * until it ends. gpreempt_check() checks one process. Any thread.
 *
 * Return: 0 or -ENOMEM; failures of checks are findings.
 */
int gpreempt_doctor(struct gpreempt *g, struct gpreempt_findings **out);

/**
 * gpreempt_findings_class() - can suspending work?
 *
 * Any thread.
 *
 * Return: GPREEMPT_CLASS_DONE, GPREEMPT_CLASS_UNSUPPORTED when the host cannot
 * do it, GPREEMPT_CLASS_PERMISSION when only rights are missing.
 */
enum gpreempt_class
gpreempt_findings_class(const struct gpreempt_findings *findings);

/** gpreempt_findings_free() - free findings; NULL is allowed. Any thread. */
void gpreempt_findings_free(struct gpreempt_findings *findings);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
