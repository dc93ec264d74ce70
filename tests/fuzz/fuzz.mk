# SPDX-License-Identifier: GPL-2.0-only
# Parsers under random input: ROUNDS=n for more than make unit takes.

FUZZ := $(O)/fuzz
FUZZ_CFLAGS = $(CFLAGS_USER) $(SAN) -O1 -D_GNU_SOURCE -Itests/fuzz
ROUNDS ?= 20000

.PHONY: fuzz
unit: fuzz
fuzz: $(FUZZ)/view $(FUZZ)/btf $(FUZZ)/seed.btf ## parsers under random input (ROUNDS=n)
	@$(FUZZ)/view $(ROUNDS) tests/fuzz/seeds/queues
	@$(FUZZ)/btf $(ROUNDS) $(FUZZ)/seed.btf

$(FUZZ)/view: tests/fuzz/fuzz.c tests/fuzz/view.c tests/fuzz/fuzz.h $(UNIT)/units.a
	@mkdir -p $(@D)
	$(CC) $(FUZZ_CFLAGS) $(USER_CPPFLAGS) -o $@ $(filter %.c %.a,$^) $(LIB_LIBS)

$(FUZZ)/btf: tests/fuzz/fuzz.c tests/fuzz/btf.c tests/fuzz/fuzz.h kmod/btf.c kmod/btf.h
	@mkdir -p $(@D)
	$(CC) $(FUZZ_CFLAGS) -Itests/fuzz/shim -Ikmod -Wno-sign-compare -o $@ \
		$(filter tests/%.c,$^)

$(FUZZ)/seed.btf: tests/fuzz/seeds/btf-seed.c
	@mkdir -p $(@D)
	$(CC) -gbtf -c -o $@.o $<
	objcopy -O binary --only-section=.BTF --set-section-flags .BTF=alloc $@.o $@
