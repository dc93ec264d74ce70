// SPDX-License-Identifier: GPL-2.0-only
/* Targets that guard cannot take, or shall not. */
#include <stdarg.h>
#include <stdio.h>

#include "agent/find-targets.h"
#include "guard/guard.h"
#include "shared/clock.h"

#define RETRY_NS	 (100 * NSEC_PER_MSEC)
#define PATIENT_RETRY_NS NSEC_PER_SEC
/* Report a refusal after that time only: a starting process is not ready. */
#define PATIENCE_NS NSEC_PER_SEC

/* NULL: it is none of them. */
static struct guard_refusal *find(struct guard *guard, const struct gpreempt_target *target)
{
	size_t i;

	for (i = 0; i < GUARD_REFUSALS; i++)
		if (same_target(&guard->refusal[i].target, target))
			return &guard->refusal[i];
	return NULL;
}

/* The place of a target among the refused; if it has none, the oldest one. */
static struct guard_refusal *place_of(struct guard *guard, const struct gpreempt_target *target)
{
	struct guard_refusal *r = find(guard, target);
	size_t i;

	if (r)
		return r;
	r = guard->refusal;
	for (i = 1; i < GUARD_REFUSALS; i++)
		if (guard->refusal[i].retry_ns < r->retry_ns)
			r = &guard->refusal[i];
	*r = (struct guard_refusal){
		.target = *target,
		.first_ns = shr_now_ns(),
	};
	return r;
}

void guard_refuse(struct guard *guard, const struct gpreempt_target *target, bool at_once,
		  const char *format, ...)
{
	struct guard_refusal *r = place_of(guard, target);
	uint64_t now = shr_now_ns();
	char why[512];
	va_list ap;

	r->retry_ns = now + (now < r->first_ns + PATIENCE_NS ? RETRY_NS : PATIENT_RETRY_NS);
	if (r->said || (!at_once && now < r->first_ns + PATIENCE_NS))
		return;
	r->said = true;
	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
	guard_event(guard, "refused", target->pid, "process %d is left alone: %s", target->pid,
		    why);
}

bool guard_backoff_over(struct guard *guard, const struct gpreempt_target *target)
{
	const struct guard_refusal *r = find(guard, target);

	return !r || shr_now_ns() >= r->retry_ns;
}

void guard_backoff_for(struct guard *guard, const struct gpreempt_target *target, uint64_t ns)
{
	struct guard_refusal *r = place_of(guard, target);

	r->retry_ns = shr_later_ns(shr_now_ns(), ns);
	r->said = true;
}

void guard_backoff_reset(struct guard *guard, const struct gpreempt_target *target)
{
	struct guard_refusal *r = find(guard, target);

	if (r)
		*r = (struct guard_refusal){ 0 };
}
