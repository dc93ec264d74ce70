# SPDX-License-Identifier: GPL-2.0-only
# vgpu.ko for the bench's kernel. kbuild writes beside the sources, so it gets
# links to them in a directory of its own.
VGPU_DIR := $(O)/vgpu
VGPU_SRC := $(wildcard tests/vgpu/*.c tests/vgpu/*.h) tests/vgpu/Kbuild
VM_MODULES += $(VGPU_DIR)/vgpu.ko

$(VGPU_DIR)/vgpu.ko: $(VGPU_SRC) $(O)/kernel/env.mk
	@mkdir -p $(VGPU_DIR)
	@ln -sf $(addprefix $(CURDIR)/,$(VGPU_SRC)) $(VGPU_DIR)/
	$(MAKE) -s -C $(KDIR) M=$(abspath $(VGPU_DIR)) \
		VGPU_AMD=$(abspath $(or $(VGPU_AMD),$(KSRC)/drivers/gpu/drm/amd)) modules

# As of the module, and of a driver's style: names of its registers, a row of assignments.
.PHONY: checkpatch-vgpu
checkpatch: checkpatch-vgpu
checkpatch-vgpu: $(O)/kernel/env.mk
	@printf '%s\n' $(wildcard tests/vgpu/vgpu_*.[ch]) | \
		tests/lint/each -c $(O)/lint/checkpatch-vgpu 8 "" $(CHECKPATCH) \
		--ignore $(KMOD_CHECKPATCH_IGNORE),LINE_SPACING,MULTIPLE_ASSIGNMENTS,NEW_TYPEDEFS -f

vgpu: $(VGPU_DIR)/vgpu.ko
