// SPDX-License-Identifier: LGPL-2.1-or-later
/* Filling in what a check found. */
#include <stdarg.h>
#include <stdio.h>

#include "lib/doctor/doctor.h"

void gp_find(struct gpreempt_finding *f, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(f->text, sizeof(f->text), format, ap);
	va_end(ap);
}

void gp_find_bad(struct gpreempt_finding *f, enum gpreempt_health health,
		 const char *next, const char *format, ...)
{
	va_list ap;

	f->health = health;
	snprintf(f->next, sizeof(f->next), "%s", next);
	va_start(ap, format);
	vsnprintf(f->text, sizeof(f->text), format, ap);
	va_end(ap);
}

void gp_find_failed(struct gpreempt_finding *f, enum gpreempt_class class,
		    const char *next, const char *format, ...)
{
	va_list ap;

	f->health = GPREEMPT_HEALTH_FAILED;
	f->failure = class;
	snprintf(f->next, sizeof(f->next), "%s", next);
	va_start(ap, format);
	vsnprintf(f->text, sizeof(f->text), format, ap);
	va_end(ap);
}
