// SPDX-License-Identifier: GPL-2.0-only
/* When to look, and who the processes are. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/owner-text.h"
#include "ctl/figures/describe.h"
#include "ctl/figures/sampler.h"
#include "holder/holder.h"
#include "output/message.h"
#include "shared/clock.h"

/* Looks take that part of a CPU at most, and are no closer than that. */
#define LOOK_PART  100
#define LEAST_NS   (20 * NSEC_PER_MSEC)
#define LONGEST_MS 10000 /* of one call of poll() */

void ctl_sampler_init(struct ctl_sampler *s, struct gpreempt *g, uint64_t period_ns)
{
	*s = (struct ctl_sampler){
		.g = g,
		.period_ns = period_ns,
		.live = true,
	};
	gp_figures_init(&s->figures, g);
}

void ctl_sampler_clear(struct ctl_sampler *s)
{
	size_t i;

	for (i = 0; i < s->people.count; i++)
		free(s->people.items[i].command);
	free(s->people.items);
	gp_figures_clear(&s->figures);
}

/* The next look is at a random moment of the period after this one's. */
static void set_next(struct ctl_sampler *s, uint64_t now, uint64_t cost_ns)
{
	uint64_t period = s->period_ns;

	if (!period)
		period = LOOK_PART * cost_ns;
	if (!s->period_ns && period < LEAST_NS)
		period = LEAST_NS;
	s->slot_ns += period;
	if (s->slot_ns < now)
		s->slot_ns = now;
	s->next_ns = s->slot_ns + random() % period;
}

/* It is there, but this one time it did not answer. */
static bool may_succeed(const struct gpreempt_error *err)
{
	return err->reason != GPREEMPT_NO_MODULE && err->reason != GPREEMPT_OLD_MODULE;
}

void ctl_sampler_look(struct ctl_sampler *s)
{
	uint64_t now = shr_now_ns(), cpu = shr_thread_cpu_ns();

	if (gp_figures_look(&s->figures, now, &s->why) && !may_succeed(&s->why)) {
		s->blind = true;
		s->next_ns = UINT64_MAX;
		return;
	}
	set_next(s, now, shr_thread_cpu_ns() - cpu);
}

bool ctl_sampler_wait(struct ctl_sampler *s, uint64_t until_ns, int stop)
{
	struct pollfd fd = { .fd = stop, .events = POLLIN };
	uint64_t now, next, ms;
	bool looked = false;

	/* On a busy host, too, each period has a look that was due in it. */
	while ((now = shr_now_ns()) < until_ns || (now >= s->next_ns && !looked)) {
		if (now >= s->next_ns) {
			ctl_sampler_look(s);
			looked = true;
			continue;
		}
		next = s->next_ns < until_ns ? s->next_ns : until_ns;
		ms = (next - now) / NSEC_PER_MSEC + 1;
		if (poll(&fd, 1, ms > LONGEST_MS ? LONGEST_MS : ms) > 0)
			return true;
	}
	return false;
}

static struct ctl_person *find(const struct ctl_sampler *s, int64_t pid)
{
	return s->people.count ? bsearch(&pid, s->people.items, s->people.count,
					 sizeof(*s->people.items), shr_compare_first) :
				 NULL;
}

const struct ctl_person *ctl_sampler_person(const struct ctl_sampler *s, int64_t pid)
{
	return find(s, pid);
}

/* Who has ended goes, and so does who had the number of another one. */
static void drop_people(struct ctl_sampler *s)
{
	const struct gp_process_figures *p = s->figures.processes.items;
	size_t i, j = 0, kept = 0, count = s->figures.processes.count;

	for (i = 0; i < s->people.count; i++) {
		struct ctl_person *person = &s->people.items[i];

		while (j < count && p[j].pid < person->pid)
			j++;
		if (j < count && p[j].pid == person->pid && p[j].start == person->start)
			s->people.items[kept++] = *person;
		else
			free(person->command);
	}
	s->people.count = kept;
}

static void fill_person(struct ctl_sampler *s, struct hold_owners *owners,
			const struct gpreempt_target *target,
			const struct gpreempt_description *who, struct ctl_person *out)
{
	*out = (struct ctl_person){
		.pid = target->pid,
		.start = target->start,
		.uid = GPREEMPT_UNKNOWN,
		.command = strdup(*who->command ? who->command : who->comm),
		.holder = geteuid() ? !strcmp(who->comm, HOLD_TITLE) :
				      hold_skip_owner(owners, target->pid),
	};
	memcpy(out->comm, who->comm, sizeof(out->comm));
	if (who->uid != (uid_t)-1) {
		out->uid = who->uid;
		if (gp_user_name(s->g, who->uid, out->user, sizeof(out->user)))
			snprintf(out->user, sizeof(out->user), "%u", who->uid);
	}
	gp_place(s->g, -ENOENT, target->pid, &out->place);
}

/* The command line is read by a child, as a process can let its reader wait for ever. */
static int add_people(struct ctl_sampler *s, struct gpreempt_targets *list)
{
	struct ctl_described *all = ctl_describe_all(s->g, list, s->live);
	struct hold_owners owners = { 0 };
	struct ctl_person *person;
	size_t i;

	if (!all)
		return -ENOMEM;
	for (i = 0; i < list->count; i++) {
		if (all[i].code)
			continue;
		person = shr_add(&s->people);
		if (!person)
			break;
		fill_person(s, &owners, &list->targets[i], &all[i].who, person);
	}
	hold_owners_free(&owners);
	ctl_described_free(all, list);
	if (s->people.count)
		qsort(s->people.items, s->people.count, sizeof(*s->people.items),
		      shr_compare_first);
	return i == list->count ? 0 : -ENOMEM;
}

int ctl_sampler_refresh(struct ctl_sampler *s, struct gpreempt_error *err)
{
	static const char step[] = "finding out who the processes are";
	struct gpreempt_targets fresh = { 0 };
	size_t i, count;
	int ret = gp_figures_refresh(&s->figures, shr_now_ns(), err);

	if (ret)
		return ret;
	drop_people(s);
	count = s->figures.processes.count;
	fresh.targets = calloc(count + 1, sizeof(*fresh.targets));
	if (!fresh.targets)
		return ctl_set_error(err, -ENOMEM, GPREEMPT_SYSTEM, 0, step);
	for (i = 0; i < count; i++) {
		const struct gp_process_figures *p = &s->figures.processes.items[i];

		if (!find(s, p->pid))
			fresh.targets[fresh.count++] = (struct gpreempt_target){
				.pid = p->pid,
				.start = p->start,
			};
	}
	if (fresh.count)
		ret = add_people(s, &fresh);
	free(fresh.targets);
	return ret ? ctl_set_error(err, ret, GPREEMPT_SYSTEM, 0, step) : 0;
}

void ctl_sampler_holder(struct ctl_sampler *s, int64_t pid, struct ctl_holder *out)
{
	struct gpreempt_description who;
	struct hold_owner owner;

	*out = (struct ctl_holder){ .pid = GPREEMPT_UNKNOWN };
	if (!hold_read_owner(pid, &owner) && owner.role != HOLD_ROLE_UNKNOWN) {
		out->pid = hold_command_of(&owner);
		snprintf(out->as, sizeof(out->as), "%s", hold_role_name(owner.role));
	} else if (!gpreempt_identify(s->g, pid, &who) && who.tracer) {
		out->pid = who.tracer;
		memcpy(out->as, who.tracer_comm, sizeof(out->as));
	}
}
