# SPDX-License-Identifier: GPL-2.0-only
# Unit tests: each test_*.c is a program, under ASan and UBSan. T=glob: some.

UNIT := $(O)/unit
UNIT_SAN := $(SAN)
# Directories of a run have one name, however it was built: lines are as wide then.
UNIT_WORK := build/unit
UNIT_CFLAGS = $(CFLAGS_USER) $(UNIT_SAN) -O1 -fno-omit-frame-pointer \
	$(USER_CPPFLAGS) $(LAB_CPPFLAGS) -Itests/unit -Itests -DHOLD_DIR='"$(UNIT_WORK)/run"' \
	-DGP_KFD_DEVICE='"/dev/null"' -DGUARD_SOCKET='"$(UNIT_WORK)/guard.sock"' \
	-DTEXT_DIR='"made/kfd"' -DHOST_ROOT='"made"' \
	-DGP_HOLDER='"$(UNIT_WORK)/gpreempt-holder"' -DTRIAL_DIR='"trial-state"'
# A busy host may not run a thread of a test for long.
UNIT_CFLAGS += -include tests/unit/unit-limits.h -DFOLLOW_PLACES=4 -DGUARD_FOUND_MAX=10
# Faster with 125 programs to link, where binutils has it.
UNIT_LD := $(if $(shell command -v ld.gold),-fuse-ld=gold)
UNIT_TESTS := $(wildcard tests/unit/test_*.c)
# The code under test gets the library on a made-up system: see unit.c.
UNIT_LDFLAGS := -Wl,--wrap=gpreempt_new -Wl,--wrap=flock -Wl,--wrap=clock_gettime \
	-Wl,--wrap=clock_nanosleep -Wl,--wrap=timerfd_settime
# And memory that cannot be had: see unit-memory.c.
UNIT_LDFLAGS += $(patsubst %,-Xlinker --wrap=%,malloc calloc realloc reallocarray strdup)
# And a made-up host: see unit-host.c.
UNIT_LDFLAGS += $(patsubst %,-Xlinker --wrap=%,chdir fgetxattr fopen fork mkdir mmap open ppoll pthread_create setmntent \
	signalfd unshare)
UNIT_SRC := $(filter-out user/doc/% user/contrib/% $(LOAD_SRC_ALONE),$(wildcard user/*/*.c user/*/*/*.c)) \
	$(wildcard tests/fake-kfd/*.c) tests/cli/schema.c \
	$(filter-out tests/vgpu/load/main.c,$(wildcard tests/vgpu/load/*.c)) \
	$(filter-out $(UNIT_TESTS),$(wildcard tests/unit/*.c))
# "make coverage" has the same tests without sanitizers, counted by gcov.
ifdef COVERAGE_BUILD
UNIT_EXIT := $(UNIT)/tests/unit/coverage/exit.o
UNIT_LDFLAGS += -Wl,--wrap=_exit -Wl,--wrap=unit_end
endif
UNIT_OBJ := $(UNIT_SRC:%.c=$(UNIT)/%.o)
UNIT_BINS := $(UNIT_TESTS:tests/unit/%.c=$(UNIT)/%)
# Those that take longest begin first.
UNIT_LONG := test_text test_find_targets test_guard_command test_experiment
UNIT_ORDER := $(UNIT_LONG) $(filter-out $(UNIT_LONG),$(patsubst tests/unit/%.c,%,$(UNIT_TESTS)))
UNIT_RUN := $(addprefix $(UNIT)/,$(if $(T),$(patsubst tests/unit/%.c,%,$(wildcard tests/unit/$(T).c)),$(UNIT_ORDER)))

.PHONY: unit
unit: $(UNIT_RUN) $(USER_LIBS) $(SCHEMA_DIR)/keys
	@tests/unit/check-api $(O)/$(LIB_SONAME)
	@SCHEMAS=$(SCHEMA_DIR) KEYS=$(if $(T),,$(SCHEMA_DIR)/keys) tests/unit/run $(UNIT_RUN)

# No view of a unit test changes during a suspend: the case command/schemas has these. And no load
# of a trial runs there: the cases of trial have those.
KEYS_OF_HARDWARE := suspend: slots_us:|suspend: resolution_us:|trial: 
$(SCHEMA_DIR)/keys: $(O)/vm-tools/json-schema $(SCHEMAS)
	@$< --keys $(SCHEMAS) | grep -Ev '^($(KEYS_OF_HARDWARE))' | sort -u >$@.new
	@mv $@.new $@

$(UNIT)/%.o: %.c | $(KFD_HEADER)
	@mkdir -p $(@D)
	$(call run,CC)$(CC) $(UNIT_CFLAGS) -MMD -MP -c -o $@ $<

$(UNIT)/user/lab/report.o: $(REPORT_PAGE)
$(UNIT)/user/lab/trial.o: user/lab/trial-reference.json

# Tests call it by another name, with command lines.
$(UNIT)/user/ctl/main.o: UNIT_CFLAGS += -Dmain=ctl_main
$(UNIT)/user/lab/main.o: UNIT_CFLAGS += -Dmain=lab_main
$(UNIT)/user/hold/main.o: UNIT_CFLAGS += -Dmain=holder_main

# In an archive, so that a test gets only what it uses.
$(UNIT)/units.a: $(UNIT_OBJ)
	@rm -f $@
	$(call run,AR)$(AR) rcsP $@ $^

$(UNIT_BINS): $(UNIT)/%: $(UNIT)/tests/unit/%.o $(UNIT_EXIT) $(UNIT)/units.a
	$(call run,LD)$(CC) $(CFLAGS_USER) $(UNIT_SAN) $(UNIT_LD) $(UNIT_LDFLAGS) -o $@ $(filter %.o,$^) \
		$(filter %.a,$^) $$(pkg-config --libs check) \
		$(UNIT)/units.a $(LAB_LIBS) $(CTL_LIBS) $(LIB_LIBS) -lm
	@echo '$(filter %.o,$^)' >$@.objects

# A guard in a made-up system, whose workers are the test's.
UNIT_FAKE_GUARD := $(UNIT)/tests/unit/fake/guard.o
UNIT_WITH_FAKE_GUARD := poll report targets
$(UNIT_WITH_FAKE_GUARD:%=$(UNIT)/test_guard_%): $(UNIT_FAKE_GUARD)

# A tracing directory that is made up.
UNIT_FAKE_TRACEFS := $(UNIT)/tests/unit/fake/tracefs.o $(UNIT)/tests/unit/fake/ring-buffer.o
$(UNIT)/test_trace_command: $(UNIT_FAKE_TRACEFS)
$(UNIT)/test_trace_command: UNIT_LDFLAGS += -Wl,--wrap=access

COVERAGE := $(O)/coverage
COVERAGE_FLAGS = COVERAGE_BUILD=1 UNIT=$(COVERAGE)/unit \
	UNIT_SAN='--coverage -fno-inline -fprofile-update=atomic'

.PHONY: coverage coverage-run
coverage: ## which lines the unit tests run, as a table and build/coverage/ (T=glob: by some)
	@$(MAKE) --no-print-directory coverage-run $(COVERAGE_FLAGS)
coverage-run: $(UNIT_RUN) $(SCHEMAS)
	@find $(UNIT) -name '*.gcda' -delete
	@SCHEMAS=$(SCHEMA_DIR) tests/unit/run $(UNIT_RUN)
	@tests/unit/coverage/report $(UNIT) $(COVERAGE) $(if $(T),/dev/null,tests/unit/coverage/bars)

.SECONDARY: $(UNIT_TESTS:%.c=$(UNIT)/%.o) $(UNIT_FAKE_GUARD) $(UNIT_FAKE_TRACEFS)

-include $(UNIT_OBJ:.o=.d) $(UNIT_FAKE_GUARD:.o=.d) $(UNIT_FAKE_TRACEFS:.o=.d) \
	$(UNIT_TESTS:%.c=$(UNIT)/%.d)
