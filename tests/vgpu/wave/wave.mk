# SPDX-License-Identifier: GPL-2.0-only
# The interpreter of waves. Without a compiler of AMD GPUs there is none, and the reason is printed.
WAVE := $(O)/wave
WAVE_LIB := $(addprefix tests/vgpu/wave/,decode.c group.c memory.c object.c scalar.c vector.c wave.c)
WAVE_HEADERS := $(wildcard tests/vgpu/wave/*.h)
WAVE_CFLAGS = $(CFLAGS_USER) -Wshadow -I$(WAVE) -Itests/vgpu/wave -Iuser

$(WAVE)/tools: tests/vgpu/wave/prepare tests/vgpu/wave/gen_ops.py tests/wave/kernels.c \
		tests/wave/arithmetic.h
	@PYTHONDONTWRITEBYTECODE=1 $< $(@D) tests/wave/kernels.c $(WITNESS_CLANGS)

# The engine that executes waves for vgpu.ko: a plugin of the bench's QEMU.
WAVE_ENGINE := $(WAVE_LIB) $(addprefix tests/vgpu/wave/,dispatch.c plugin.c)
vm-files: $(WAVE)/engine
$(WAVE)/engine: $(WAVE_ENGINE) $(WAVE_HEADERS) tests/vgpu/vgpu_engine.h $(WAVE)/tools
	@rm -f $@.so
	$(call run,LD)grep -q '^skipped' $(WAVE)/tools || $(CC) $(WAVE_CFLAGS) -Itests/vgpu -fPIC \
		-fvisibility=hidden -shared -o $@.so $(filter %.c,$^) -lm
	@touch $@
