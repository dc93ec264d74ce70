// SPDX-License-Identifier: GPL-2.0-only
/* Targets that guard cannot take, or shall not. */
#include "ctl/guard.h"
#include "shared/clock.h"

#define MAX_REFUSED 256
#define RETRY_NS (100 * NSEC_PER_MSEC)
#define PATIENT_RETRY_NS NSEC_PER_SEC
/* What is refused for so long is said; a process that starts is not ready. */
#define PATIENCE_NS NSEC_PER_SEC

/* Targets that we cannot take. */
static struct refused {
	struct gpreempt_target target;
	uint64_t first_ns;
	uint64_t retry_ns;
	bool said;
} refused[MAX_REFUSED];

/* The place of a target among the refused, made if need be. */
static struct refused *refusal(const struct gpreempt_target *target)
{
	struct refused *oldest = refused;
	size_t i;

	for (i = 0; i < MAX_REFUSED; i++) {
		if (guard_same(&refused[i].target, target))
			return &refused[i];
		if (refused[i].retry_ns < oldest->retry_ns)
			oldest = &refused[i];
	}
	*oldest = (struct refused){
		.target = *target, .first_ns = shr_now_ns(),
	};
	return oldest;
}

/* Not now, but perhaps later; said once, when it goes on for a while. */
void guard_refuse(struct guard *guard, const struct gpreempt_target *target,
		  const char *why, bool at_once)
{
	struct refused *r = refusal(target);
	uint64_t now = shr_now_ns();

	r->retry_ns = now + (now < r->first_ns + PATIENCE_NS ?
			     RETRY_NS : PATIENT_RETRY_NS);
	if (r->said || (!at_once && now < r->first_ns + PATIENCE_NS))
		return;
	r->said = true;
	guard_event(guard, "refused", target->pid, "process %d is left alone: %s",
		    target->pid, why);
}

bool guard_may_try(const struct gpreempt_target *target)
{
	size_t i;

	for (i = 0; i < MAX_REFUSED; i++)
		if (guard_same(&refused[i].target, target))
			return shr_now_ns() >= refused[i].retry_ns;
	return true;
}

void guard_shun(const struct gpreempt_target *target, uint64_t ns)
{
	struct refused *r = refusal(target);
	uint64_t now = shr_now_ns();

	r->retry_ns = now + ns < now ? UINT64_MAX : now + ns;
	r->said = true;
}

void guard_pardon(const struct gpreempt_target *target)
{
	size_t i;

	for (i = 0; i < MAX_REFUSED; i++)
		if (guard_same(&refused[i].target, target))
			refused[i] = (struct refused){ 0 };
}
