# SPDX-License-Identifier: GPL-2.0-only
# "make bench": what things cost, in the virtual machine. A part is a script in
# parts/; its figures' bars are in bars.

BENCH_BINS := $(patsubst tests/bench/%.c,$(O)/vm-tools/%,$(wildcard tests/bench/*-bench.c))
VM_BINS += $(BENCH_BINS)

# Static, because the guest has no libc.
$(BENCH_BINS): $(O)/vm-tools/%: tests/bench/%.c $(O)/libgpreempt.a tests/bench/bench.h \
		| $(KFD_HEADER)
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS_USER) -D_GNU_SOURCE -Iinclude -Iuser $(KFD_CPPFLAGS) -static -o $@ \
		$(filter-out %.h,$^) \
		$(LIB_LIBS)

.PHONY: bench
bench: ## what things cost, as a table and build/bench.json (BENCH=part: one alone)
	@$(MAKE) --no-print-directory -s vm-ready
	@$(MAKE) --no-print-directory -s $(O)/bench-parse $(O)/bench-top
	@tests/bench/bench $(O) '$(BENCH)' $(VM_RUN)

.PHONY: checkpatch-bench
checkpatch: checkpatch-bench
checkpatch-bench: $(O)/kernel/env.mk
	@printf '%s\n' $(wildcard tests/bench/*.[ch]) | \
		tests/lint/each -c $(O)/lint/checkpatch-bench 8 "" \
		$(CHECKPATCH) --ignore $(NOT_FOR_USERS) -f

.PHONY: check-bench
ifndef T
unit: check-bench
endif
check-bench:
	@tests/bench/selftest
