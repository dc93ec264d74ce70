// SPDX-License-Identifier: GPL-2.0-only
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "unit-poll.h"

struct memory *memory;
char *page;
pid_t good, stuck;

pid_t start_child(void (*work)(void))
{
	pid_t parent = getpid(), child = fork();

	ck_assert_int_ge(child, 0);
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		work();
	_exit(1);
}

void do_nothing(void)
{
	for (;;)
		pause();
}

void add_online(pid_t pid, const char *comm, uintptr_t read_addr, uintptr_t write_addr)
{
	char text[256];

	world_add(pid, comm, "/");
	snprintf(text, sizeof(text),
		 QUEUES "0 0xf7bc compute-aql 0x%lx 0x%lx "
			"0x%lx 4096\n",
		 read_addr, write_addr, (uintptr_t)page);
	world_queues(pid, text);
}

void poll_setup(void)
{
	guard_setup();
	guard.common->late_ns = NSEC_PER_SEC;
	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(memory != MAP_FAILED && page != MAP_FAILED);
	good = start_child(do_nothing);
	name_online("comm:serve");
	name_offline("comm:train");
	add_online(good, "serve", (uintptr_t)&memory->read, (uintptr_t)&memory->written);
	world_add(200, "train", "/");
	world_queues(200, QUEUES "0 0xf7bc compute-aql 0x8 0x10 0x40 4096\n");
}

static void end_child(pid_t *child)
{
	if (*child) {
		kill(*child, SIGKILL);
		waitpid(*child, NULL, 0);
	}
	*child = 0;
}

void poll_teardown(void)
{
	atomic_store(&memory->answer, 1);
	end_child(&stuck);
	end_child(&good);
	guard_poll_stop(&guard);
	/* The page answers now, so its thread ends, too. */
	UNIT_WAIT(!guard.turn.threads);
	guard_teardown();
	munmap(memory, PAGE);
	munmap(page, PAGE);
}

void start_guard(void)
{
	look_until("process 200 is offline");
	ck_assert_int_eq(guard_poll_start(&guard), 0);
	/* Work from now on is an arrival, and was not there before. */
	UNIT_WAIT(guard.online[0].looked);
}

static void look_until_there_are(const uint64_t *count, uint64_t n)
{
	uint64_t end = shr_now_ns() + UNIT_LIMIT_NS;

	while (*count < n) {
		ck_assert_msg(shr_now_ns() < end, "no order after work: %s", output());
		guard_poll_tend(&guard);
		look(1);
	}
}

void look_until_suspends(uint64_t n)
{
	look_until_there_are(&guard.figures.suspends, n);
}

void look_until_resumes(uint64_t n)
{
	look_until_there_are(&guard.figures.resumes[GPREEMPT_POLICY_IDLE], n);
}
