// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a check found: filling it in, and what it means. */
#include <stdarg.h>
#include <stdio.h>

#include "lib/doctor/checks.h"

const char *const gp_health_names[] = {
	[GP_HEALTH_OK] = "ok",		 [GP_HEALTH_NOTE] = "note",
	[GP_HEALTH_WARNING] = "warning", [GP_HEALTH_FAILED] = "failed",
	[GP_HEALTH_UNKNOWN] = "unknown",
};

enum gpreempt_class gp_finding_class(const struct gp_finding *f, enum gpreempt_class before)
{
	bool worse = before == GPREEMPT_CLASS_DONE || (before == GPREEMPT_CLASS_PERMISSION &&
						       f->failure == GPREEMPT_CLASS_UNSUPPORTED);

	return f->health == GP_HEALTH_FAILED && worse ? f->failure : before;
}

void gp_find(struct gp_finding *f, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(f->text, sizeof(f->text), format, ap);
	va_end(ap);
}

static void find_bad(struct gp_finding *f, enum gp_health health, const char *next,
		     const char *format, va_list ap)
{
	f->health = health;
	snprintf(f->next, sizeof(f->next), "%s", next);
	vsnprintf(f->text, sizeof(f->text), format, ap);
}

void gp_find_bad(struct gp_finding *f, enum gp_health health, const char *next, const char *format,
		 ...)
{
	va_list ap;

	va_start(ap, format);
	find_bad(f, health, next, format, ap);
	va_end(ap);
}

void gp_find_failed(struct gp_finding *f, enum gpreempt_class class, const char *next,
		    const char *format, ...)
{
	va_list ap;

	f->failure = class;
	va_start(ap, format);
	find_bad(f, GP_HEALTH_FAILED, next, format, ap);
	va_end(ap);
}
