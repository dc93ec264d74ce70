# SPDX-License-Identifier: GPL-2.0-only
# Small mistakes in the code, one at a time: does a unit test fail then? Half an hour,
# so not a part of check. It goes on where it was interrupted; MINUTES= bounds a run.

MUTANTS ?= 200
SEED ?= 1
MINUTES ?= 600
# What survives without sanitizers is tried again with them, as "make unit" has them:
# a leak is seen by nothing else. SANITIZE=0: not.
SANITIZE ?= 1
MUTATE_UNIT := $(O)/mutate/unit

UNIT_LINK = $(CC) $(CFLAGS_USER) $(UNIT_SAN) $(UNIT_LDFLAGS) -o @OUT@ @IN@ \
	$(shell pkg-config --libs check) $(UNIT)/units.a $(LAB_LIBS) $(CTL_LIBS) $(LIB_LIBS) -lm

.PHONY: mutate mutate-seen mutate-quick
ifneq ($(SANITIZE),0)
mutate: export CC_san = $(CC) $(UNIT_CFLAGS)
mutate: export LD_san = $(UNIT_LINK)
mutate: $(UNIT_BINS)
endif
mutate: ## mistakes that the unit tests must find (MUTANTS= SEED= MINUTES= ONLY= SANITIZE=0)
	@$(MAKE) --no-print-directory -s mutate-seen $(COVERAGE_FLAGS)
	@$(MAKE) --no-print-directory -s mutate-quick UNIT=$(MUTATE_UNIT) UNIT_SAN=-g0

# Programs that count what they run.
mutate-seen: $(UNIT_BINS)

# Programs without sanitizers.
mutate-quick: export CC_quick = $(CC) $(UNIT_CFLAGS)
mutate-quick: export LD_quick = $(UNIT_LINK)
mutate-quick: $(UNIT_BINS) $(SCHEMAS)
	@SCHEMAS=$(abspath $(SCHEMA_DIR)) tests/mutate/mutate $(O) --count $(MUTANTS) --seed $(SEED) --minutes $(MINUTES) \
		$(if $(ONLY),--only '$(ONLY)')
