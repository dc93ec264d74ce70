# SPDX-License-Identifier: GPL-2.0-only
# Unit tests: each test_*.c is a program, under ASan and UBSan. T=glob: some.

UNIT := $(O)/unit
UNIT_CFLAGS = $(CFLAGS_USER) $(SAN) -O1 -fno-omit-frame-pointer \
	$(USER_CPPFLAGS) -Itests/unit -DHOLD_DIR='"$(UNIT)/run"' \
	-DSHR_GUARD_SOCKET='"$(UNIT)/guard.sock"'
UNIT_TESTS := $(wildcard tests/unit/test_*.c)
UNIT_SRC := $(wildcard user/lib/*.c user/shared/*.c) \
	$(filter-out user/ctl/main.c,$(wildcard user/ctl/*.c)) \
	$(filter-out tests/vgpu/load/main.c,$(wildcard tests/vgpu/load/*.c)) \
	$(filter-out $(UNIT_TESTS),$(wildcard tests/unit/*.c))
UNIT_OBJ := $(UNIT_SRC:%.c=$(UNIT)/%.o)
UNIT_BINS := $(UNIT_TESTS:tests/unit/%.c=$(UNIT)/%)

.PHONY: unit
unit: $(UNIT_BINS) $(USER_LIBS)
	@tests/unit/check-api $(O)/$(LIB_SONAME)
	@tests/unit/run $(if $(T),$(wildcard $(UNIT)/$(T)),$(UNIT_BINS))

$(UNIT)/%.o: %.c | $(KFD_HEADER)
	@mkdir -p $(@D)
	$(CC) $(UNIT_CFLAGS) -MMD -MP -c -o $@ $<

# In an archive, so that a test gets only what it uses.
$(UNIT)/units.a: $(UNIT_OBJ)
	rm -f $@
	$(AR) rcs $@ $^

$(UNIT_BINS): $(UNIT)/%: $(UNIT)/tests/unit/%.o $(UNIT)/units.a
	$(CC) $(CFLAGS_USER) $(SAN) -o $@ $^ \
		$$(pkg-config --libs check) $(CTL_LIBS) $(LIB_LIBS) -lm

.SECONDARY: $(UNIT_TESTS:%.c=$(UNIT)/%.o)

-include $(UNIT_OBJ:.o=.d) $(UNIT_TESTS:%.c=$(UNIT)/%.d)
