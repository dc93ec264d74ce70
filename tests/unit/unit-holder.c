// SPDX-License-Identifier: GPL-2.0-only
#include "unit-ctl.h"
#include "unit-holder.h"
#include "unit-pausable.h"

pid_t target;

void holder_setup(void)
{
	ck_assert_int_eq(system("rm -rf " HOLD_DIR), 0);
	unit_cgroups_start();
	target = unit_make_sleeper();
	unit_setup_for(target);
	gp_loop_add_queue(&loop, 0);
	gp_loop_add_queue(&loop, 1);
}

void pausable_setup(void)
{
	holder_setup();
	hold_dir_setup();
	gp_loop_remove_queue(&loop, 1);
	unit_make_pausable(target);
}

void holder_teardown(void)
{
	unit_end(target);
	unit_teardown();
	unit_cgroups_stop();
}

bool is_free(pid_t pid)
{
	struct hold_owner owner;

	return hold_read_owner(pid, &owner) == -ENOENT && !hold_socket_inode(pid);
}

void expect_no_holder(void)
{
	UNIT_WAIT(is_free(target));
	/* Guardians are children of the command, which is this process. */
	unit_wait_for_children(target);
}

struct hold_owner holder(void)
{
	struct hold_owner owner = { 0 };

	ck_assert_int_eq(hold_read_owner(target, &owner), 0);
	ck_assert_int_eq(owner.role, HOLD_ROLE_HOLDER);
	return owner;
}

void resume_target(void)
{
	CTL(0, "resume %d", target);
	expect_no_holder();
}
