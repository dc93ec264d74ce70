# SPDX-License-Identifier: GPL-2.0-only
# The part of "make bench" that needs no virtual machine.

$(O)/bench-parse: tests/bench/parse.c $(O)/lab.a $(O)/ctl.a $(O)/libgpreempt.a
	$(call run,LD)$(CC) $(CFLAGS_USER) $(USER_CPPFLAGS) -o $@ $^ $(LAB_LIBS) $(CTL_LIBS) $(LIB_LIBS)

.PHONY: bench-parse
bench-parse: $(O)/bench-parse ## speed of the parser of the driver's text, on the host
	@tests/bench/parse.sh $(O)
