# SPDX-License-Identifier: GPL-2.0-only
# Small mistakes in the code, one at a time: does a unit test fail then? Hours, so
# not a part of check. It goes on where it was interrupted; MINUTES= bounds a run.

MUTANTS ?= 200
SEED ?= 1
MINUTES ?= 600

.PHONY: mutate
mutate: export UNIT_CC = $(CC) $(UNIT_CFLAGS)
mutate: export UNIT_LD = $(CC) $(CFLAGS_USER) $(UNIT_SAN) $(UNIT_LDFLAGS) -o @OUT@ @IN@ \
	$(shell pkg-config --libs check) $(UNIT)/units.a $(CTL_LIBS) $(LIB_LIBS) -lm
mutate: $(UNIT_BINS) ## mistakes that the unit tests must find (hours; MUTANTS= SEED= MINUTES=)
	@tests/mutate/mutate $(O) --count $(MUTANTS) --seed $(SEED) --minutes $(MINUTES) \
		$(if $(ONLY),--only '$(ONLY)')
