# SPDX-License-Identifier: GPL-2.0-only
# gpreempt.ko, built in a copy of what DKMS gets, so that nothing is written
# among the sources: build/kmod/bench for the bench's kernel, build/kmod/running
# for the one that runs here.

KMOD_SRC := Kbuild include/gpreempt/view.h \
	$(wildcard kmod/*.c kmod/*.h) kmod/headers-layout kmod/driver-floor \
	kmod/layout-rows.awk
KMOD_BENCH := $(O)/kmod/bench/gpreempt.ko
KMOD_RUNNING := $(O)/kmod/running/gpreempt.ko

VM_MODULES += $(KMOD_BENCH)
modules: $(KMOD_BENCH) check-calls
all: $(if $(KRUNNING),$(KMOD_RUNNING),$(KMOD_BENCH))

# $(1): headers to build against, $(2): where, $(3): more for make. One at a
# time: Kbuild does not bear two in a directory.
define kmod-build
@mkdir -p $(2)
@+flock $(2).lock sh -ec 'cp --parents -u $(KMOD_SRC) dkms.conf $(2); \
	$(MAKE) -s -C $(1) M=$(abspath $(2)) KCFLAGS=-Werror $(3) modules'
endef

$(KMOD_BENCH): $(KMOD_SRC) dkms.conf $(O)/kernel/env.mk
	$(call kmod-build,$(KDIR),$(@D))

$(KMOD_RUNNING): $(KMOD_SRC) dkms.conf
	$(call kmod-build,$(KRUNNING),$(@D))

# All of it, when any of its files changed.
.PHONY: sparse-kmod sparse-kmod-all
sparse: sparse-kmod
sparse-kmod: $(O)/kernel/env.mk
	@changed=$$(printf '%s\n' $(KMOD_SRC) | tests/lint/changed) && [ -z "$$changed" ] || \
		$(MAKE) --no-print-directory sparse-kmod-all
sparse-kmod-all: $(O)/kernel/env.mk
	@rm -rf $(O)/kmod/sparse
	$(call kmod-build,$(KDIR),$(O)/kmod/sparse,C=2 CF=-Wsparse-error)

# Lists that are macros, and a driver that is not in the kernel's tree, are
# what these would complain of.
KMOD_CHECKPATCH_IGNORE := COMPLEX_MACRO,MACRO_ARG_REUSE,MACRO_ARG_UNUSED
KMOD_CHECKPATCH_IGNORE := $(KMOD_CHECKPATCH_IGNORE),MACRO_ARG_PRECEDENCE
KMOD_CHECKPATCH_IGNORE := $(KMOD_CHECKPATCH_IGNORE),TRAILING_SEMICOLON
KMOD_CHECKPATCH_IGNORE := $(KMOD_CHECKPATCH_IGNORE),MULTISTATEMENT_MACRO_USE_DO_WHILE
KMOD_CHECKPATCH_IGNORE := $(KMOD_CHECKPATCH_IGNORE),PREFER_KERNEL_TYPES,BIT_MACRO
KMOD_CHECKPATCH_IGNORE := $(KMOD_CHECKPATCH_IGNORE),FUNCTION_ARGUMENTS,CAMELCASE

.PHONY: checkpatch-kmod
checkpatch: checkpatch-kmod
checkpatch-kmod: $(O)/kernel/env.mk
	@printf '%s\n' $(filter %.c %.h,$(KMOD_SRC)) | \
		tests/lint/each -c $(O)/lint/checkpatch-kmod 8 "" \
		$(CHECKPATCH) --ignore $(KMOD_CHECKPATCH_IGNORE) -f

# The sources go where DKMS wants them, and nothing else does.
DKMS_KERNEL = $(shell uname -r)
DKMS_TREE = $(DESTDIR)/usr/src/gpreempt-$(VERSION)

.PHONY: dkms-files dkms-install
dkms-files:
	install -d $(DKMS_TREE)
	cp --parents $(KMOD_SRC) dkms.conf $(DKMS_TREE)

dkms-install: ## gpreempt.ko by DKMS (DKMS_KERNEL=... for another kernel; as root)
	@command -v dkms >/dev/null || { echo "dkms is not installed"; exit 1; }
	@$(MAKE) --no-print-directory dkms-files
	dkms add $(DKMS_FLAGS) gpreempt/$(VERSION)
	dkms build $(DKMS_FLAGS) gpreempt/$(VERSION) -k $(DKMS_KERNEL)
	dkms install $(DKMS_FLAGS) gpreempt/$(VERSION) -k $(DKMS_KERNEL)

.PHONY: check-calls
check-calls: $(KMOD_BENCH)
	@tests/kmod/check-calls $(KMOD_BENCH)
