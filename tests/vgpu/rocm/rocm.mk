# SPDX-License-Identifier: GPL-2.0-only
# ROCr programs of the tests, against the older generation's headers. One a
# generation: each names its own loader and libraries, so that they run in the
# guest like any program.

ROCM_DIR := tests/vgpu/rocm
ROCM_COMMON := gpus queue
ROCM_LOAD := $(ROCM_COMMON) args copy load
ROCM_CHECK := $(ROCM_COMMON) check check_help check_packets check_memory \
	check_unserved check_ioctl check_load
ROCM_GEMM := $(ROCM_COMMON) product gemm
ROCM_BINS := $(foreach g,12 13,$(O)/hsa-load$(g) $(O)/hsa-check$(g)) $(O)/hsa-gemm13
ROCM_OBJ := $(patsubst $(ROCM_DIR)/%.c,$(O)/rocm-programs/%.o,$(wildcard $(ROCM_DIR)/*.c))
VM_BINS += $(ROCM_BINS)

# Linked with the older libraries, run with those of the generation in $*.
ROCM_LINK = $(CC) $(CFLAGS_USER) -o $@ $(filter %.o,$^) \
	-L$(O)/rocm/guest/rocm12 -l:libhsa-runtime64.so.1 \
	-Wl,-rpath-link,$(O)/rocm/guest/rocm12 \
	-Wl,--disable-new-dtags,-rpath,/rocm$* \
	-Wl,--dynamic-linker,/rocm$*/ld-linux-x86-64.so.2

$(O)/hsa-load%: $(ROCM_LOAD:%=$(O)/rocm-programs/%.o)
	$(ROCM_LINK)

$(O)/hsa-check%: $(ROCM_CHECK:%=$(O)/rocm-programs/%.o)
	$(ROCM_LINK)

$(O)/hsa-gemm%: $(ROCM_GEMM:%=$(O)/rocm-programs/%.o)
	$(ROCM_LINK)

$(O)/rocm-programs/%.o: $(ROCM_DIR)/%.c $(O)/rocm/stamp | $(KFD_HEADER)
	@mkdir -p $(@D)
	$(call run,CC)$(CC) $(CFLAGS_USER) -D_GNU_SOURCE $(KFD_CPPFLAGS) -isystem $(O)/rocm/include \
		-MMD -MP -c -o $@ $<

-include $(ROCM_OBJ:.o=.d)
