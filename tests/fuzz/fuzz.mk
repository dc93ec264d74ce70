# SPDX-License-Identifier: GPL-2.0-only
# Parsers under random input: ROUNDS=n for more than make unit takes.

FUZZ := $(O)/fuzz
FUZZ_CFLAGS = $(CFLAGS_USER) $(SAN) -O1 -D_GNU_SOURCE -Itests/fuzz
ROUNDS ?= 20000
# The parsers of user space that have a fuzzer.
FUZZ_LIB := view text amdlog klog ids packets trial cgroup engines oci nri report results host showpids
FUZZ_SEEDS_view := $(wildcard tests/fuzz/seeds/queues*)
FUZZ_SEEDS_text := $(wildcard tests/fuzz/seeds/text-*) tests/text/two-queues/hqds
FUZZ_SEEDS_amdlog := $(wildcard tests/fuzz/seeds/amdlog-*)
FUZZ_SEEDS_klog := $(wildcard tests/fuzz/seeds/klog-*)
FUZZ_SEEDS_ids := $(wildcard tests/fuzz/seeds/ids-*)
FUZZ_SEEDS_trial := $(wildcard tests/fuzz/seeds/trial-*)
FUZZ_SEEDS_packets := tests/fuzz/seeds/packet
FUZZ_SEEDS_results := tests/fuzz/seeds/results
FUZZ_SEEDS_showpids := tests/text/showpids
FUZZ_SEEDS_cgroup := $(wildcard tests/fuzz/seeds/cgroup-*)
$(foreach p,engines oci nri host,$(eval FUZZ_SEEDS_$(p) := $(wildcard tests/fuzz/seeds/$(p)*)))
# Whole, guard's events take half of the time.
FUZZ_SEEDS_report := $(FUZZ)/seed.events tests/fuzz/seeds/results \
	$(filter-out %/guard.json %/top.ansi,$(wildcard tests/report/fixtures/*))
# Each is in a file of its name, but for several in one, whose fuzz_NAME() is fuzz_one() then.
FUZZ_SRC = $(or $(FUZZ_SRC_$(1)),tests/fuzz/$(1).c)
$(foreach p,host oci report results showpids,$(eval FUZZ_SRC_$(p) := tests/fuzz/command.c tests/fuzz/files.c))
$(foreach p,cgroup engines,$(eval FUZZ_SRC_$(p) := tests/fuzz/place.c tests/fuzz/files.c))
FUZZ_WRAP_host := -Wl,--wrap=gpreempt_new

.PHONY: fuzz
ifndef T
unit: fuzz
endif
fuzz: $(FUZZ_LIB:%=$(FUZZ)/%) $(FUZZ)/btf $(FUZZ)/seed.btf $(FUZZ)/seed.events ## parsers under random input (ROUNDS=n)
	@$(foreach p,$(FUZZ_LIB),tests/fuzz/run $(FUZZ)/$(p) $(ROUNDS) $(FUZZ_SEEDS_$(p)) &&) \
		tests/fuzz/run $(FUZZ)/btf $(ROUNDS) $(FUZZ)/seed.btf

.SECONDEXPANSION:
$(FUZZ_LIB:%=$(FUZZ)/%): $(FUZZ)/%: $$(call FUZZ_SRC,$$*) tests/fuzz/fuzz.c \
		$(wildcard tests/fuzz/*.h) $(UNIT)/units.a
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(FUZZ_CFLAGS) -Dfuzz_$*=fuzz_one $(USER_CPPFLAGS) $(FUZZ_WRAP_$*) -o $@ $(filter %.c,$^) \
		$(filter %.a,$^) $(LAB_LIBS) $(CTL_LIBS) $(LIB_LIBS) -lm

# With the header of BTF that the newest kernel has, which tests/kmod/fetch-kernels
# has fetched: it is longer, and has other bits for the kind and number of members.
FUZZ_NEWEST = $(lastword $(sort $(wildcard $(O)/kernels/[0-9]*/common/include/uapi/linux/btf.h)))

.PHONY: fuzz-newest
fuzz-newest: $(FUZZ)/seed.btf
	@[ -n "$(FUZZ_NEWEST)" ] || { echo "fuzz: no newer kernel's linux/btf.h"; exit 1; }
	@mkdir -p $(FUZZ)/newest/linux
	@cmp -s $(FUZZ_NEWEST) $(FUZZ)/newest/linux/btf.h || \
		cp $(FUZZ_NEWEST) $(FUZZ)/newest/linux/btf.h
	@$(MAKE) --no-print-directory -s $(FUZZ)/btf-newest
	@$(FUZZ)/btf-newest $(ROUNDS) $(FUZZ)/seed.btf

$(FUZZ)/btf-newest: FUZZ_CFLAGS += -I$(FUZZ)/newest
$(FUZZ)/btf-newest: $(FUZZ)/newest/linux/btf.h
$(FUZZ)/btf $(FUZZ)/btf-newest: tests/fuzz/fuzz.c tests/fuzz/btf.c tests/fuzz/fuzz.h \
		kmod/btf.c kmod/btf.h
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(FUZZ_CFLAGS) -Itests/fuzz/shim -Ikmod -Wno-sign-compare -o $@ \
		$(filter tests/%.c,$^)

# The interpreter of waves, where there is a compiler for what it executes.
FUZZ_WAVE := $(FUZZ)/wave
.PHONY: fuzz-wave
fuzz: fuzz-wave
fuzz-wave: $(WAVE)/tools
	@[ ! -e $(WAVE)/tools ] || $(MAKE) --no-print-directory -s $(FUZZ_WAVE)
	@[ ! -e $(WAVE)/tools ] || \
		tests/fuzz/run $(FUZZ_WAVE) $(ROUNDS) $(WAVE)/gfx90a.co $(WAVE)/gfx942.co
$(FUZZ_WAVE): tests/fuzz/wave.c tests/fuzz/fuzz.c tests/fuzz/fuzz.h $(WAVE_LIB) $(WAVE_HEADERS) $(WAVE)/tools
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(FUZZ_CFLAGS) $(WAVE_CFLAGS) -o $@ $(filter %.c,$^) -lm

$(FUZZ)/seed.events: tests/report/fixtures/guard.json
	head -n 40 $< >$@

$(FUZZ)/seed.btf: tests/fuzz/seeds/btf-seed.c
	@mkdir -p $(@D)
	$(call run,CC)$(CC) -gbtf -c -o $@.o $<
	objcopy -O binary --only-section=.BTF --set-section-flags .BTF=alloc $@.o $@

# Hours of one core, for who changed a parser. What libFuzzer finds goes below
# build/fuzz/, with a name that it prints.
RUNS ?= 10000000
FUZZ_LLVM := $(FUZZ_LIB:%=$(FUZZ)/llvm-%)

.PHONY: fuzz-long $(FUZZ_LIB:%=fuzz-long-%)
fuzz-long: $(FUZZ_LIB:%=fuzz-long-%) ## the same with libFuzzer (RUNS=10000000 each)

fuzz-long-report: $(FUZZ)/seed.events
$(FUZZ_LIB:%=fuzz-long-%): fuzz-long-%: $(FUZZ)/llvm-%
	@mkdir -p $(FUZZ)/corpus-$*
	@cp $(FUZZ_SEEDS_$*) $(FUZZ)/corpus-$*
	@$(FUZZ)/llvm-$* -runs=$(RUNS) -max_len=8192 -print_final_stats=1 -verbosity=0 \
		-artifact_prefix=$(FUZZ)/ \
		$(if $(wildcard tests/fuzz/$*.dict),-dict=tests/fuzz/$*.dict) $(FUZZ)/corpus-$*

FUZZ_CLANG = clang -std=gnu11 -D_GNU_SOURCE -O1 -g -fsanitize=fuzzer,address,undefined \
	-fno-sanitize-recover=all $(USER_CPPFLAGS) $(LAB_CPPFLAGS) -DGP_HOLDER='""' -Itests/fuzz
FUZZ_OBJ := $(patsubst %.c,$(FUZZ)/llvm/%.o,$(LIB_SRC) $(SHARED_SRC) $(CTL_SRC) $(LAB_SRC))

$(FUZZ)/llvm/user/ctl/main.o: FUZZ_CLANG += -Dmain=ctl_main
$(FUZZ)/llvm/user/lab/main.o: FUZZ_CLANG += -Dmain=lab_main
$(FUZZ)/llvm/%.o: %.c | $(KFD_HEADER) $(REPORT_PAGE)
	@tests/vm/install-deps clang
	@mkdir -p $(@D)
	$(FUZZ_CLANG) -MMD -MP -c -o $@ $<

$(FUZZ)/llvm.a: $(FUZZ_OBJ)
	@rm -f $@
	$(call run,AR)$(AR) rcsP $@ $^

$(FUZZ_LLVM): $(FUZZ)/llvm-%: $$(call FUZZ_SRC,$$*) tests/fuzz/libfuzzer.c \
		$(wildcard tests/fuzz/*.h) $(FUZZ)/llvm.a
	$(FUZZ_CLANG) -Dfuzz_$*=fuzz_one $(FUZZ_WRAP_$*) -o $@ $(filter %.c,$^) $(filter %.a,$^) $(LAB_LIBS) $(CTL_LIBS) \
		$(LIB_LIBS) -lm

-include $(FUZZ_OBJ:.o=.d)
