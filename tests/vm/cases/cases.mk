# SPDX-License-Identifier: GPL-2.0-only
# Helpers of the VM tests that a shell is too slow or too weak for. Static,
# because the guest has no libc.

VM_TOOLS := as-user as-unit ask-guard debugger deep-cgroup fail-load lifetime move-root notify-log on-terminal peer queue-signals silent-files takeover terminal \
	two-threads user-time with-cap
VM_TOOL_BINS := $(VM_TOOLS:%=$(O)/vm-tools/%)
VM_GPU_TOOLS := gpu-steps pm4-check sdma-check
VM_GPU_TOOL_BINS := $(VM_GPU_TOOLS:%=$(O)/vm-tools/%)
# A terminal
VM_BINS += $(wildcard /usr/bin/tmux)
VM_BINS += $(VM_TOOL_BINS) $(VM_GPU_TOOL_BINS) $(O)/vm-tools/gp-api $(O)/vm-tools/gp-hold $(O)/vm-tools/gp-pause \
	$(O)/vm-tools/json-value $(O)/vm-tools/json-schema

$(VM_TOOL_BINS): $(O)/vm-tools/%: tests/vm/tools/%.c | $(KFD_HEADER)
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS_USER) -D_GNU_SOURCE $(KFD_CPPFLAGS) -Iinclude -Iuser -I$(O)/vm-tools -static -o $@ $(filter %.c %.a,$^)
$(O)/vm-tools/ask-guard: $(O)/libgpreempt.a
$(O)/vm-tools/as-unit: $(O)/vm-tools/unit-filter.h
# All units have it: check-units looks.
$(O)/vm-tools/unit-filter.h: tests/vm/tools/unit-filter user/install/service-hardened
	@mkdir -p $(@D)
	$^ >$@.new
	@mv $@.new $@

# GPU processes like vgpu-load, and made of its parts.
$(VM_GPU_TOOL_BINS): $(O)/vm-tools/%: tests/vm/tools/%.c $(filter-out %/main.o,$(LOAD_OBJ))
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS_USER) -D_GNU_SOURCE $(KFD_CPPFLAGS) -static -o $@ $^ -pthread -lm

# The library itself, without a command around it.
$(O)/vm-tools/gp-api $(O)/vm-tools/gp-hold $(O)/vm-tools/gp-pause: $(O)/vm-tools/%: tests/vm/tools/%.c $(O)/libgpreempt.a
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS_USER) $(USER_CPPFLAGS) -o $@ $^ $(LIB_LIBS) -pthread

$(O)/vm-tools/json-value: tests/vm/tools/json-value.c
$(O)/vm-tools/json-schema: tests/cli/json-schema.c tests/cli/schema.c tests/cli/schema.h
$(O)/vm-tools/json-value $(O)/vm-tools/json-schema:
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS_USER) -D_GNU_SOURCE -static -o $@ $(filter %.c,$^) -ljson-c

# Are the fixtures what a real host prints? Skips without its captures.
.PHONY: captures
captures:
	@tests/vm/check-captures

# Suspends and resumes at random, and kills any process that takes part.
SOAK_S = $(or $(DURATION),3600)

.PHONY: soak
soak: ## suspend, resume and kill at random (DURATION=s HOW=debug|pause|mixed KILLS=n)
	@$(MAKE) --no-print-directory -s vm-ready
	@$(VM_RUN) --vgpu 'gpus=2' --timeout $$(($(SOAK_S) + 600)) \
		command 'HOW=$(or $(HOW),debug) KILLS=$(or $(KILLS),0) exec sh /t/soak.sh $(SOAK_S)'

# The cases of a pause that take a number, each in a guest of its own.
PAUSE_LONG_S := 7200
pause_long = $(VM_RUN) --vgpu '$(2)' --timeout $(PAUSE_LONG_S) --file cases/pause/$(1).sh command \
	'PAUSES=$(or $(PAUSES),10000) KILLS=$(or $(KILLS),10000) exec sh /t/cases/pause/$(1).sh'

.PHONY: pause-long
pause-long: ## thousands of pauses and kills, hours (PAUSES=n KILLS=n)
	@$(MAKE) --no-print-directory -s vm-ready
	@$(call pause_long,never-stopped,gpus=2)
	@$(call pause_long,rocm,gpus=1 xccs=1)
	@$(call pause_long,storm,gpus=1)
