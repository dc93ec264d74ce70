# SPDX-License-Identifier: GPL-2.0-only
# HIP of Debian 13 in a guest of its own: large, so only on demand.

HIP_DIR := $(O)/hip
HIP_MEMORY := 4096
HIP_PAYLOAD := $(O)/vm/payload-hip.tar
HIP_BINS := $(O)/hip-load $(O)/hip-gemm
HIP_CASES = $(sort $(wildcard tests/vm/hip/$(or $(T),*).sh))
# The compiler of the same release, with the loader and libraries of that one.
HIP_TOOL = $(HIP_DIR)/tools/ld-linux-x86-64.so.2 --library-path $(HIP_DIR)/tools \
	$(HIP_DIR)/tools

$(HIP_DIR)/stamp: tests/vm/fetch-rocm
	@tests/vm/fetch-rocm $(O) hip
	@touch $@

$(O)/hip-gemm: tests/vgpu/rocm/product.c tests/vgpu/rocm/product.h
$(HIP_BINS): $(O)/%: tests/vgpu/rocm/hip/%.c tests/vgpu/rocm/hip/hip.h tests/vgpu/vgpu.h $(HIP_DIR)/stamp
	$(call run,LD)$(CC) $(CFLAGS_USER) -D_GNU_SOURCE -D__HIP_PLATFORM_AMD__ \
		-isystem $(HIP_DIR)/include -o $@ $(filter %.c,$^) \
		-L$(HIP_DIR)/guest/hip13 -l:libamdhip64.so.5 -Wl,--allow-shlib-undefined \
		-Wl,--disable-new-dtags,-rpath,/hip13 \
		-Wl,--dynamic-linker,/hip13/ld-linux-x86-64.so.2

$(O)/vgpu-kernel-%.co: tests/vgpu/rocm/kernel/vgpu-kernel.c $(HIP_DIR)/stamp
	$(HIP_TOOL)/clang -std=c11 -O2 -Wall -Wextra -nogpulib -nostdinc \
		-target amdgcn-amd-amdhsa -mcpu=$* -c -o $@.o $<
	$(HIP_TOOL)/lld -flavor gnu -shared $@.o -o $@

$(O)/vm/hip/key: $(O)/vm/init tests/vm/mkinitramfs $(O)/kernel/env.mk $(HIP_DIR)/stamp
	tests/vm/mkinitramfs $(O) $(O)/vm/init hip $(HIP_DIR)/guest

.PHONY: hip-files
hip-files: $(O)/vm/vmrun $(O)/vm/hip/key $(HIP_BINS) $(O)/vgpu-kernel-gfx942.co $(VM_BINS) \
		$(VM_MODULES) $(WAVE)/engine
	@tests/vm/mkpayload $(HIP_PAYLOAD) modules $(VM_MODULES) bins $(VM_BINS) \
		$(HIP_BINS) files $(O)/vgpu-kernel-gfx942.co $(wildcard $(WAVE)/gfx942.co)

HIP_RUN = $(O)/vm/vmrun --build $(O) --harness tests/vm --payload $(HIP_PAYLOAD) \
	--image hip --memory $(HIP_MEMORY)
