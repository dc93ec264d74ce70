/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The checks of gp_doctor(). */
#ifndef GP_DOCTOR_CHECKS_H
#define GP_DOCTOR_CHECKS_H

#include "lib/core/internal.h"
#include "lib/doctor/doctor.h"

#define GP_AMDGPU "/sys/module/amdgpu"

/* Each fills in what it found, and leaves what is well at OK. */
struct gp_doctor_check {
	const char *name;
	void (*run)(struct gpreempt *g, struct gp_finding *f);
	bool decides; /* a warning: this driver has no debug trap */
	bool debug;   /* it asks what only a driver with a debug trap knows */
};

extern const struct gp_doctor_check gp_host_checks[];
extern const struct gp_doctor_check gp_driver_checks[];
extern const struct gp_doctor_check gp_view_checks[];

__attribute__((format(printf, 2, 3))) void gp_find(struct gp_finding *f, const char *format, ...);
/* The same with what it means and what to do. */
__attribute__((format(printf, 4, 5))) void gp_find_bad(struct gp_finding *f, enum gp_health health,
						       const char *next, const char *format, ...);
/* It stands in the way: of that class. */
__attribute__((format(printf, 4, 5))) void gp_find_failed(struct gp_finding *f,
							  enum gpreempt_class class,
							  const char *next, const char *format,
							  ...);

#endif
