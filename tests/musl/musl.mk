# SPDX-License-Identifier: GPL-2.0-only
# All of user/ with another C library, musl: its headers, and of the machine's only those
# of the kernel and of the libraries that the programs load. What needs no other library
# is linked, and runs in the guest (library/musl); the others need json-c, of which no
# distribution here has a build for musl.

MUSL := $(O)/musl
MUSL_BINS := $(addprefix $(MUSL)/,gpreempt-holder-musl gp-hold-musl gp-pause-musl)
VM_BINS += $(MUSL_BINS)
NOT_IN_GATE += $(MUSL_BINS)
MUSL_LINKS := asm=$(firstword $(wildcard /usr/include/*-linux-gnu/asm)) \
	$(foreach i,linux asm-generic json-c tracefs traceevent curses.h libkmod.h ncurses_dll.h unctrl.h,$(i)=/usr/include/$(i))
MUSL_HAVE := $(MUSL)/include/have
MUSL_MAKE = $(MAKE) --no-print-directory -s KERNEL= AMDGPU= DEBUG_KERNEL= CC=musl-gcc O=$(MUSL) KFD_INCLUDE=$(KFD_INCLUDE) \
	KFD_CPPFLAGS='-D__user= -isystem $(KFD_INCLUDE) -isystem $(MUSL)/include' \
	TRACE_CPPFLAGS='$(addprefix -isystem $(MUSL)/include/,tracefs traceevent)' \
	-o $(KFD_HEADER)

$(MUSL_HAVE): tests/musl/musl.mk
	@mkdir -p $(@D)
	@for link in $(MUSL_LINKS); do ln -sfn "$${link#*=}" "$(@D)/$${link%%=*}"; done
	@touch $@

# The rules of user/ build these; the order of the archives is that of a static link.
.PHONY: musl-objects
musl-objects: $(KFD_HEADER) $(MUSL_HAVE)
	+@$(MUSL_MAKE) $(MUSL)/user/hold/main.o $(MUSL)/ctl.a $(MUSL)/lab.a $(MUSL)/libgpreempt.a
$(MUSL)/user/hold/main.o $(MUSL)/ctl.a $(MUSL)/libgpreempt.a: musl-objects
	@:

$(MUSL)/gpreempt-holder-musl: $(MUSL)/user/hold/main.o $(MUSL)/ctl.a $(MUSL)/libgpreempt.a
	musl-gcc $(CFLAGS_USER) -static -o $@ $^ -pthread

$(MUSL)/%-musl: tests/vm/tools/%.c $(MUSL)/libgpreempt.a
	musl-gcc $(CFLAGS_USER) $(USER_CPPFLAGS) -isystem $(MUSL)/include -static -o $@ $^ -pthread
