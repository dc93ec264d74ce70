# SPDX-License-Identifier: GPL-2.0-only
# vgpu-load: the GPU process of the tests. Static, because the guest has no libc.

LOAD_DIR := tests/vgpu/load
LOAD_SRC := $(wildcard $(LOAD_DIR)/*.c)
LOAD_OBJ := $(LOAD_SRC:$(LOAD_DIR)/%.c=$(O)/vgpu-load.d/%.o)
VM_BINS += $(O)/vgpu-load

$(O)/vgpu-load: $(LOAD_OBJ) $(O)/libgpreempt.a
	$(call run,LD)$(CC) $(CFLAGS_USER) -static -o $@ $^ -lm

$(O)/vgpu-load.d/%.o: $(LOAD_DIR)/%.c | $(KFD_HEADER)
	@mkdir -p $(@D)
	$(call run,CC)$(CC) $(CFLAGS_USER) -D_GNU_SOURCE -Iinclude $(KFD_CPPFLAGS) -MMD -MP -c -o $@ $<

-include $(LOAD_OBJ:.o=.d)
