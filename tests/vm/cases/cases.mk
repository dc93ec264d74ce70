# SPDX-License-Identifier: GPL-2.0-only
# Helpers of the VM tests that a shell is too slow or too weak for. Static,
# because the guest has no libc.

VM_TOOLS := as-nobody debugger lifetime terminal
VM_TOOL_BINS := $(VM_TOOLS:%=$(O)/vm-tools/%)
VM_BINS += $(VM_TOOL_BINS) $(O)/vm-tools/sdma-check

$(VM_TOOL_BINS): $(O)/vm-tools/%: tests/vm/tools/%.c | $(KFD_HEADER)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_USER) -D_GNU_SOURCE $(KFD_CPPFLAGS) -static -o $@ $<

# A GPU process like vgpu-load, and made of its parts.
$(O)/vm-tools/sdma-check: tests/vm/tools/sdma-check.c $(filter-out %/main.o,$(LOAD_OBJ))
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_USER) -D_GNU_SOURCE $(KFD_CPPFLAGS) -static -o $@ $^

# Are the fixtures what a real host prints? Skips without its captures.
.PHONY: captures
captures:
	@tests/vm/check-captures
