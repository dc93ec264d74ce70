# SPDX-License-Identifier: GPL-2.0-only
# gpreempt-load, and the code objects in it: by a compiler of ROCm or of Debian's, if one is here.

# A program of its own: neither the commands nor the unit tests have these.
LOAD_SRC_ALONE := user/trial/load.c
WITNESS_CLANGS ?= $(wildcard /opt/rocm/llvm/bin/clang) \
	$(notdir $(wildcard $(addprefix /usr/bin/clang-,22 21 20 19 18 17 16))) clang
LOAD_OBJS := $(LOAD_SRC_ALONE:user/%.c=$(O)/user/%.o) $(O)/witness/objects.o

# In the guest it has the loader and the libraries of Debian 13's ROCm, as the tests' own programs.
TRIAL_GUEST_LOAD := $(O)/trial-guest/gpreempt-load
$(TRIAL_GUEST_LOAD): GUEST_LDFLAGS := -Wl,--disable-new-dtags,-rpath,/rocm13 \
	-Wl,--dynamic-linker,/rocm13/ld-linux-x86-64.so.2
# Archives are made by these.
VM_BINS += $(TRIAL_GUEST_LOAD) $(wildcard /bin/tar /usr/bin/zstd)

$(O)/gpreempt-load $(TRIAL_GUEST_LOAD): $(LOAD_OBJS) $(O)/ctl.a $(O)/libgpreempt.a
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS_USER) $(HARDEN_LDFLAGS) $(GUEST_LDFLAGS) -pie -o $@ $^ $(CTL_LIBS) $(PROGRAM_LIBS) -lm

$(O)/witness/objects.S: $(addprefix user/trial/,make-witness witness.cl witness.h)
	@user/trial/make-witness user/trial $(@D) $(WITNESS_CLANGS)
$(O)/witness/objects.o: $(O)/witness/objects.S
	$(call run,AS)$(CC) -c -o $@ $<

user: $(O)/gpreempt-load

.PHONY: check-witness
check-witness: $(O)/witness/objects.S
	@tests/lint/check-witness $(<D) $(WITNESS_CLANGS)

-include $(O)/user/trial/load.d
