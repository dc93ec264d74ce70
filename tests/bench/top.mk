# SPDX-License-Identifier: GPL-2.0-only
# What top costs. It needs no virtual machine.

$(O)/bench-top: tests/bench/top.c $(O)/ctl.a $(O)/libgpreempt.a
	$(call run,LD)$(CC) $(CFLAGS_USER) $(USER_CPPFLAGS) -o $@ $^ $(LAB_LIBS) $(CTL_LIBS) $(LIB_LIBS)
