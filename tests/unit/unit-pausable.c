// SPDX-License-Identifier: GPL-2.0-only
#include "hold/run-dir.h"
#include "unit-pausable.h"

#define HEAD                               \
	"gpreempt-queues - version: 1.3\n" \
	"# qid gpu_id active slots suspended evicted state age_ms\n"

static const char *view(struct gp_loop *l)
{
	if (l->evicted)
		return HEAD "0 0xf7bc 0 4 0 1 paused 0\n";
	return gp_loop_queue(l, 0)->suspended ? HEAD "0 0xf7bc 0 4 1 0 suspended 0\n" :
						HEAD "0 0xf7bc 4 4 0 0 active 0\n";
}

void unit_open_kfd(pid_t pid)
{
	set_file("/dev/kfd", "511");
	set_file(unit_text("/proc/%d/fd/", pid), "0\n7\n9\n");
	set_file(unit_text("/proc/%d/fd/0", pid), "1028");
	set_file(unit_text("/proc/%d/fd/7", pid), "511");
}

void unit_make_pausable(pid_t pid)
{
	unit_open_kfd(pid);
	set_view(pid, view(&loop));
	loop.view = view;
}

void unit_expect_unpaused(pid_t pid)
{
	struct hold_owner owner;
	struct pause_entry e;

	ck_assert_int_eq(loop.evicted, 0);
	ck_assert_int_eq(pause_journal_read(pid, &e), -ENOENT);
	ck_assert_int_eq(hold_read_owner(pid, &owner), -ENOENT);
}

void unit_wait_until_free(pid_t pid)
{
	struct hold_owner owner;

	UNIT_WAIT(hold_read_owner(pid, &owner) == -ENOENT);
}
