// SPDX-License-Identifier: GPL-2.0-only
/* Targets that guard cannot take, or shall not. */
#include "agent/find-targets.h"
#include "guard/guard.h"
#include "shared/clock.h"

#define RETRY_NS	 (100 * NSEC_PER_MSEC)
#define PATIENT_RETRY_NS NSEC_PER_SEC
/* Report a refusal after that time only: a starting process is not ready. */
#define PATIENCE_NS NSEC_PER_SEC

static bool is_refused(const struct guard_refusal *r,
		       const struct gpreempt_target *target)
{
	return same_target(&r->target, target);
}

/* The place of a target among the refused; if it has none, the oldest one. */
static struct guard_refusal *place_of(struct guard *guard,
				      const struct gpreempt_target *target)
{
	struct guard_refusal *oldest = guard->refusal;
	size_t i;

	for (i = 0; i < GUARD_REFUSALS; i++) {
		struct guard_refusal *r = &guard->refusal[i];

		if (is_refused(r, target))
			return r;
		if (r->retry_ns < oldest->retry_ns)
			oldest = r;
	}
	*oldest = (struct guard_refusal){
		.target = *target,
		.first_ns = shr_now_ns(),
	};
	return oldest;
}

/* Not now, but perhaps later; said once, when it goes on for a while. */
void guard_refuse(struct guard *guard, const struct gpreempt_target *target,
		  const char *why, bool at_once)
{
	struct guard_refusal *r = place_of(guard, target);
	uint64_t now = shr_now_ns();

	r->retry_ns =
		now +
		(now < r->first_ns + PATIENCE_NS ? RETRY_NS : PATIENT_RETRY_NS);
	if (r->said || (!at_once && now < r->first_ns + PATIENCE_NS))
		return;
	r->said = true;
	guard_event(guard, "refused", target->pid,
		    "process %d is left alone: %s", target->pid, why);
}

bool guard_backoff_over(const struct guard *guard,
			const struct gpreempt_target *target)
{
	size_t i;

	for (i = 0; i < GUARD_REFUSALS; i++)
		if (is_refused(&guard->refusal[i], target))
			return shr_now_ns() >= guard->refusal[i].retry_ns;
	return true;
}

void guard_backoff_for(struct guard *guard,
		       const struct gpreempt_target *target, uint64_t ns)
{
	struct guard_refusal *r = place_of(guard, target);
	uint64_t now = shr_now_ns();

	r->retry_ns = now + ns < now ? UINT64_MAX : now + ns;
	r->said = true;
}

void guard_backoff_reset(struct guard *guard,
			 const struct gpreempt_target *target)
{
	size_t i;

	for (i = 0; i < GUARD_REFUSALS; i++)
		if (is_refused(&guard->refusal[i], target))
			guard->refusal[i] = (struct guard_refusal){ 0 };
}
