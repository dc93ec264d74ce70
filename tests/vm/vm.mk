# SPDX-License-Identifier: GPL-2.0-only
# The bench: kernel, PID 1, image, payload, runner.

VM_INIT_SRC := $(wildcard tests/vm/init/*.c)
VM_RUN_SRC := $(wildcard tests/vm/run/*.c)
VM_HEADERS := $(wildcard tests/vm/*.h tests/vm/init/*.h tests/vm/run/*.h)
VM_CFLAGS := $(CFLAGS_USER) -D_GNU_SOURCE -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla
VM_RUN = $(O)/vm/vmrun --build $(O) --harness tests/vm --payload $(PAYLOAD) $(VM_DEBUG)
# The debug kernel's: KASAN and lockdep make emulated processors slow.
SLOW ?= 6
VM_DEBUG = $(if $(DEBUG_KERNEL),--slow $(SLOW) --leaks --memory 3072 \
	--reports tests/vm/debug-reports)
VM_LOCK = mkdir -p $(O) && flock $(O)/make.lock

$(O)/vm/init: $(VM_INIT_SRC) $(VM_HEADERS)
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(VM_CFLAGS) -static -o $@ $(VM_INIT_SRC)

$(O)/vm/vmrun: $(VM_RUN_SRC) $(VM_HEADERS)
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(VM_CFLAGS) -o $@ $(VM_RUN_SRC)

# ROCm's user space, as two Debian releases ship it.
$(O)/rocm/stamp: tests/vm/fetch-rocm
	@tests/vm/fetch-rocm $(O)
	@touch $@

# key is written last.
$(O)/vm/boot/key: $(O)/vm/init tests/vm/mkinitramfs tests/vm/module-chains $(O)/kernel/env.mk \
		$(O)/rocm/stamp
	tests/vm/mkinitramfs $(O) $(O)/vm/init boot $(O)/rocm/guest

# A set of files chosen on the command line does not replace the usual one,
# which another make may be using.
CHOSEN = $(strip $(VM_FILES)$(findstring command line,$(foreach \
	v,VM_BINS VM_MODULES,$(origin $(v)))))
CHOICE = $(shell echo '$(VM_MODULES) : $(VM_BINS) : $(VM_FILES)' | cksum | cut -d' ' -f1)
# The gate's has not what its cases do not need and takes long to build.
ifdef GATE
VM_BINS := $(filter-out $(NOT_IN_GATE),$(VM_BINS))
endif
PAYLOAD = $(O)/vm/payload$(if $(GATE),-gate)$(if $(CHOSEN),-$(CHOICE)).tar

.PHONY: payload
payload: $(VM_BINS) $(VM_MODULES) $(SCHEMAS) $(WAVE)/tools
	@tests/vm/mkpayload $(PAYLOAD) modules $(VM_MODULES) \
		bins $(VM_BINS) docs $(VM_DOCS) data $(VM_DOC_DATA) files $(VM_FILES) \
		$(wildcard $(WAVE)/gfx942.co)

# Pages whose output a test makes again.
VM_DOCS := README.md docs/user-guide.md docs/json.md docs/measuring.md docs/tasks.md
# And what their commands read there, as FILE:NAME.
VM_DOC_DATA := tests/unit/fixtures/hip-5.7.1/amd-log-4:amd.log \
	tests/text/older:older.txt
# What --json prints is as these say.
VM_DOC_DATA += $(foreach s,$(SCHEMAS),$(s):schema-$(notdir $(s)))

# All that a guest needs, by one make at a time.
.PHONY: vm-files
vm-files: $(O)/vm/vmrun $(O)/vm/boot/key payload

# Those of our modules that are built are loaded, unless told otherwise.
VGPU ?= $(if $(filter %/vgpu.ko,$(VM_MODULES)),gpus=1,none)
GPREEMPT ?= $(if $(filter %/gpreempt.ko,$(VM_MODULES)),yes,no)
TIMEOUT ?= 600
# Guests at the same time. 0: as many as this host's processors and memory carry.
VM_JOBS ?= 0
# KEEP=1: cases that passed on the same input are not run again, unless FRESH=1.
VM_SUITE = --seed $(or $(SEED),1) $(if $(REAL),--real) $(if $(CHAOS),--chaos) \
	$(if $(KEEP),--keep) $(if $(FRESH),--fresh) --skips tests/vm/skips \
	--kernel $(if $(GIVEN_ARGS),given-)$$(. $(abspath $(O))/kernel/env.sh && echo "$$KVER")
# T='guard guard/s* suspend/lease': folders, and cases in them.
# TIER=gate: of these, those of the gate.
VM_CASES = $(sort $(shell grep -l '$(if $(TIER),^# tier: $(TIER)$$)' /dev/null \
	$(foreach t,$(or $(T),*),$(wildcard \
	tests/vm/cases/$t.sh tests/vm/cases/$t/*.sh)))) \
	$(if $(DEBUG_KERNEL),$(wildcard tests/vm/debug/*.sh))

export CMD
