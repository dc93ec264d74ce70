# SPDX-License-Identifier: GPL-2.0-only
# The tests of the interpreter of waves: what a compiler of AMD GPUs makes, and the driver's trap
# handlers, are executed. Without such a compiler they are skipped.
WAVE_PROGRAMS := $(WAVE)/kernels $(WAVE)/witness
# In the gate every fifth boundary of instructions; else all.
WAVE_STEP := $(if $(GATE),5,1)
WAVE_DRIVER = $(shell find $(KMODDIR) -name 'amdgpu.ko*' | head -n 1)

.PHONY: check-wave-code wave-programs
check-wave-code: $(WAVE)/tools $(O)/witness/objects.S $(O)/kernel/env.mk ## real code, saved by the driver's handler
	@[ ! -e $(WAVE)/tools ] || $(MAKE) --no-print-directory wave-programs
	@[ ! -e $(WAVE)/tools ] || \
		tests/wave/check-wave-code $(WAVE) $(WAVE_DRIVER) $(O)/witness $(WAVE_STEP)

wave-programs: $(WAVE_PROGRAMS) $(WAVE)/decoder.so
$(WAVE)/witness: user/trial/witness.h
$(WAVE_PROGRAMS): $(WAVE)/%: tests/wave/check-%.c tests/wave/bench.c $(WAVE_LIB) \
		$(wildcard tests/wave/*.h) $(WAVE_HEADERS) $(WAVE)/tools
	$(call run,LD)$(CC) $(WAVE_CFLAGS) -o $@ $(filter %.c,$^) -lm

$(WAVE)/decoder.so: tests/wave/decoder.c tests/vgpu/wave/decode.c $(WAVE_HEADERS) $(WAVE)/tools
	$(call run,LD)$(CC) $(WAVE_CFLAGS) -shared -fPIC -o $@ $(filter %.c,$^)

# kernels.c is for the GPU.
.PHONY: checkpatch-wave
checkpatch: checkpatch-wave
checkpatch-wave: $(O)/kernel/env.mk
	@printf '%s\n' $(filter-out %/kernels.c,$(wildcard tests/vgpu/wave/*.[ch] tests/wave/*.[ch])) | \
		tests/lint/each -c $(O)/lint/checkpatch-wave 8 "" $(CHECKPATCH) \
		--ignore $(NOT_FOR_USERS),BRACKET_SPACE,NEW_TYPEDEFS,SPACING -f
