# SPDX-License-Identifier: GPL-2.0-only
# The interpreter of waves and its tests: what a compiler of AMD GPUs makes, and the driver's trap
# handlers, are executed here. Without such a compiler they are skipped, with the reason.
WAVE := $(O)/wave
WAVE_PROGRAMS := $(WAVE)/kernels $(WAVE)/witness
WAVE_LIB := $(addprefix tests/vgpu/wave/,bench.c decode.c group.c memory.c object.c scalar.c \
	vector.c wave.c)
WAVE_HEADERS := $(wildcard tests/vgpu/wave/*.h)
WAVE_CFLAGS = $(CFLAGS_USER) -Wshadow -I$(WAVE) -Itests/vgpu/wave -Iuser
# In the gate every fifth boundary of instructions; else all.
WAVE_STEP := $(if $(GATE),5,1)
WAVE_DRIVER = $(shell find $(KMODDIR) -name 'amdgpu.ko*' | head -n 1)

.PHONY: check-wave-code wave-programs
check-wave-code: $(WAVE)/tools $(O)/witness/objects.S $(O)/kernel/env.mk ## real code, saved by the driver's handler
	@[ ! -e $(WAVE)/tools ] || $(MAKE) --no-print-directory wave-programs
	@[ ! -e $(WAVE)/tools ] || \
		tests/vgpu/wave/check-wave-code $(WAVE) $(WAVE_DRIVER) $(O)/witness $(WAVE_STEP)

$(WAVE)/tools: $(addprefix tests/vgpu/wave/,prepare gen_ops.py kernels.c arithmetic.h)
	@PYTHONDONTWRITEBYTECODE=1 tests/vgpu/wave/prepare $(@D) $(WITNESS_CLANGS)

# kernels.c is for the GPU.
.PHONY: checkpatch-wave
checkpatch: checkpatch-wave
checkpatch-wave: $(O)/kernel/env.mk
	@printf '%s\n' $(filter-out %/kernels.c,$(wildcard tests/vgpu/wave/*.[ch])) | \
		tests/lint/each -c $(O)/lint/checkpatch-wave 8 "" $(CHECKPATCH) \
		--ignore $(NOT_FOR_USERS),BRACKET_SPACE,NEW_TYPEDEFS,SPACING -f

wave-programs: $(WAVE_PROGRAMS) $(WAVE)/decoder.so
$(WAVE)/witness: user/trial/witness.h
$(WAVE_PROGRAMS): $(WAVE)/%: tests/vgpu/wave/check-%.c $(WAVE_LIB) $(WAVE_HEADERS) $(WAVE)/tools
	$(call run,LD)$(CC) $(WAVE_CFLAGS) -o $@ $(filter %.c,$^) -lm

$(WAVE)/decoder.so: $(addprefix tests/vgpu/wave/,decoder.c decode.c) $(WAVE_HEADERS) $(WAVE)/tools
	$(call run,LD)$(CC) $(WAVE_CFLAGS) -shared -fPIC -o $@ $(filter %.c,$^)

# The engine that executes waves for vgpu.ko: a plugin of the bench's QEMU.
WAVE_ENGINE := $(filter-out %/bench.c,$(WAVE_LIB)) $(addprefix tests/vgpu/wave/,dispatch.c plugin.c)
vm-files: $(WAVE)/engine
$(WAVE)/engine: $(WAVE_ENGINE) $(WAVE_HEADERS) tests/vgpu/vgpu_engine.h $(WAVE)/tools
	@rm -f $@.so
	$(call run,LD)grep -q '^skipped' $(WAVE)/tools || $(CC) $(WAVE_CFLAGS) -Itests/vgpu -fPIC \
		-fvisibility=hidden -shared -o $@.so $(filter %.c,$^) -lm
	@touch $@
