// SPDX-License-Identifier: GPL-2.0-only
#include "unit-session.h"

struct gpreempt_session *s;
struct gpreempt_outcome out;

bool suspended(uint32_t qid)
{
	return gp_loop_queue(&loop, qid)->suspended;
}

void session_setup(void)
{
	unit_setup();
}

void session_teardown(void)
{
	close_session();
	unit_teardown();
}

int close_session(void)
{
	int ret = gpreempt_session_close(s);

	s = NULL;
	return ret;
}

void show_destruction(uint32_t qid)
{
	set_file("/proc/4194242/task/4194242/syscall",
		 unit_text("16 0x3 0xc0084b03 0x%x 0x0 0x0 0x0 0x1 0x2\n", qid));
}

void open_with_queues(uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		gp_loop_add_queue(&loop, i);
	s = unit_open();
	unit_clear_trace();
}
