# SPDX-License-Identifier: GPL-2.0-only
# Tests of gpreempt.ko: of its sources on the host, on other kernels, and by DKMS.

.PHONY: checkpatch-kmod-tests
checkpatch: checkpatch-kmod-tests
checkpatch-kmod-tests: $(O)/kernel/env.mk
	@printf '%s\n' $(wildcard tests/kmod/*.c tests/fuzz/*.[ch]) | \
		tests/lint/each -c $(O)/lint/checkpatch-kmod-tests 8 "" \
		$(CHECKPATCH) --ignore $(NOT_FOR_USERS) -f

# The parser of BTF: texts of types, wide enumerators, kinds that are new; with the
# header that libc has and with one that is longer, as that of Linux 7.2.
KMOD_BTF := $(O)/kmod/btf
KMOD_BTF_CFLAGS = $(CFLAGS_USER) $(SAN) -D_GNU_SOURCE -Itests/fuzz/shim -Ikmod -Iinclude \
	-Wno-sign-compare

.PHONY: check-btf
ifndef T
unit: check-btf
endif
check-btf: $(KMOD_BTF)/types.btf $(KMOD_BTF)/check $(KMOD_BTF)/check-longer
	@$(KMOD_BTF)/check $< && $(KMOD_BTF)/check-longer $< && \
		echo "kmod/btf.c: reads types, wide enumerators and longer headers"

$(KMOD_BTF)/types.btf: tests/kmod/btf-types.c
	@mkdir -p $(@D)
	$(call run,CC)$(CC) -g -c -o $(@D)/types.o $<
	pahole -J --btf_encode_detached=$@ $(@D)/types.o

$(KMOD_BTF)/longer/linux/btf.h: /usr/include/linux/btf.h
	@mkdir -p $(@D)
	sed 's/^\t__u32\tstr_len;.*/&\n\t__u32\tlayout_off, layout_len;/' $< >$@
	@! cmp -s $< $@ || { echo "$<: no str_len"; rm $@; exit 1; }

$(KMOD_BTF)/check $(KMOD_BTF)/check-longer: tests/kmod/check-btf.c kmod/btf.c \
		kmod/btf.h \
		$(KMOD_BTF)/longer/linux/btf.h
	$(call run,LD)$(CC) $(if $(findstring longer,$@),-I$(KMOD_BTF)/longer) $(KMOD_BTF_CFLAGS) -o $@ $<

# What the module would say of the bench's kernel, by its files; of others with
# LAYOUT_OF='VMLINUX.btf AMDGPU.btf'.
$(KMOD_BTF)/layout-of: tests/kmod/layout-of.c kmod/btf.c \
		kmod/btf.h kmod/layout.h
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(KMOD_BTF_CFLAGS) -o $@ $<

.PHONY: check-layout
check-layout: $(KMOD_BTF)/layout-of ## gpreempt.ko on a kernel, by LAYOUT_OF='VMLINUX.btf AMDGPU.btf'
	@$(KMOD_BTF)/layout-of $(LAYOUT_OF)

# Other kernels than the bench's, without running them (UPDATE=1: look for newer
# ones; ALL=1: also those of which there are no headers any more).
.PHONY: check-kernels-offline kernels-table check-support
check-kernels-offline: $(KMOD_BTF)/layout-of $(O)/kernel/env.mk ## gpreempt.ko on all kernels of Debian's, without running them
	@tests/kmod/fetch-kernels $(if $(UPDATE),--update) $(if $(ALL),--all) $(O) || \
		echo "kernels: what has not been fetched is not checked (see above)"
	@tests/kmod/check-kernels $(O)
	@tests/kmod/kernels-json $(O) >$(O)/kernels.json
	@[ ! -f $(O)/kernels/fetched ] || $(MAKE) --no-print-directory -s fuzz-newest

# Which kernels, and what on each of them.
KERNELS ?= trixie 7
KERNELS_T ?= vgpu module suspend
.PHONY: check-kernels
check-kernels: check-kernels-offline ## the tests of the driver on other kernels, too (KERNELS='trixie 7' KERNELS_T=...; not part of check)
	@status=0; for k in $(KERNELS); do \
		$(MAKE) --no-print-directory KERNEL=$$k vmtest T='$(KERNELS_T)' || status=1; \
	done; \
	tests/kmod/kernels-json $(O) >$(O)/kernels.json; \
	tests/kmod/kernels-json --summary $(O); \
	exit $$status

kernels-table: $(KMOD_BTF)/layout-of $(O)/kernel/env.mk ## write what it found into its table and docs/support.md
	@tests/kmod/check-kernels --write $(O)
	@tests/kmod/kernels-json $(O) >$(O)/kernels.json
	@{ tests/kmod/kernels-json --table $(O); cat tests/kmod/ran.table; } | \
		awk -F '\t' '/^#/ || !seen[$$1]++' | sort -V >$(O)/ran.table
	@{ grep '^#' tests/kmod/ran.table; grep -v '^#' $(O)/ran.table; } >$(O)/ran.new
	@cat $(O)/ran.new >tests/kmod/ran.table
	@tests/kmod/support-table --write

ifndef T
unit: check-support
endif
check-support:
	@tests/kmod/support-table

# Tests of its sources on the host, with empty files in place of the kernel's headers:
# the walk over KFD's table while an entry goes away; hardware slots of made-up
# registers; lists and nodes of made-up structures. As in a kernel, the address of a
# member may be made of a pointer that leads nowhere.
KMOD_EMPTY := $(addprefix $(O)/kmod/empty/,$(addprefix linux/,atomic.h bitmap.h bitops.h \
	build_bug.h delay.h err.h hashtable.h jiffies.h kasan-checks.h kernel.h kref.h ktime.h \
	dcache.h list.h mm.h mmu_notifier.h \
	module.h mutex.h pci.h pid.h pid_namespace.h pm_runtime.h preempt.h rwsem.h sched.h sched/mm.h \
	sched/signal.h sched/task.h slab.h sort.h srcu.h string.h types.h uaccess.h workqueue.h) \
	drm/drm_device.h drm/drm_drv.h)
KMOD_HOST_TESTS := check-walk check-hqd check-waves check-node check-snapshot

.PHONY: $(KMOD_HOST_TESTS)
ifndef T
unit: $(KMOD_HOST_TESTS)
endif
$(KMOD_HOST_TESTS): %: $(O)/kmod/%
	@$<

$(KMOD_EMPTY):
	@mkdir -p $(@D) && : >$@

$(addprefix $(O)/kmod/,$(KMOD_HOST_TESTS)): $(O)/kmod/%: tests/kmod/%.c \
		$(wildcard tests/kmod/fake-*.h kmod/*.[ch]) $(KMOD_EMPTY)
	$(call run,LD)$(CC) $(CFLAGS_USER) $(SAN) -D_GNU_SOURCE -I$(O)/kmod/empty -Iinclude -Ikmod \
		-fno-sanitize=null,alignment -Wno-unused-parameter -Wno-sign-compare \
		-o $@ $<

.PHONY: check-compat check-floor check-abi
ifndef T
unit: check-compat check-floor check-abi
endif
check-compat check-floor check-abi:
	@tests/kmod/$@

# What its VM tests need in the guest. Static, because the guest has no libc.
KMOD_TOOLS := $(O)/vm-tools
VM_BINS += $(KMOD_TOOLS)/vgpu-load-update $(KMOD_TOOLS)/btf-doctor \
	$(KMOD_TOOLS)/rename-symbol

# vgpu-load that updates its queues on signals.
$(KMOD_TOOLS)/vgpu-load-update: tests/kmod/queue-update.c \
		$(wildcard tests/vgpu/load/*.[ch]) $(O)/libgpreempt.a | $(KFD_HEADER)
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS_USER) -D_GNU_SOURCE -Iinclude $(KFD_CPPFLAGS) -static -o $@ \
		$(filter %.c %.a,$^) -lm

# The names that the module looks up, as a table of C.
$(KMOD_TOOLS)/layout-rows.h: kmod/layout-rows.awk kmod/layout.h
	@mkdir -p $(@D)
	awk -f $^ >$@.new && mv $@.new $@

$(KMOD_TOOLS)/btf-doctor: $(KMOD_TOOLS)/layout-rows.h tests/kmod/btf-blob.c \
		tests/kmod/btf-blob.h
$(KMOD_TOOLS)/btf-doctor $(KMOD_TOOLS)/rename-symbol: \
		$(KMOD_TOOLS)/%: tests/kmod/%.c
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS_USER) -D_GNU_SOURCE -I$(KMOD_TOOLS) -static -o $@ $(filter %.c,$^)

# The module as DKMS builds it, for a VM test; the others only on request.
KMOD_DKMS := $(O)/dkms/gpreempt-dkms.ko $(O)/dkms/gpreempt-dkms.btf $(O)/dkms/kmod
VM_BINS += $(KMOD_DKMS)
NOT_IN_GATE += $(KMOD_DKMS)

$(O)/dkms/gpreempt-dkms.ko: $(KMOD_SRC) dkms.conf tests/kmod/dkms-build $(O)/kernel/env.mk
	@mkdir -p $(@D)
	tests/kmod/dkms-build $(O) tarball $@

# The layout that was made of headers on that occasion.
$(O)/dkms/gpreempt-dkms.btf: $(O)/dkms/gpreempt-dkms.ko ;

$(O)/dkms/kmod:
	@mkdir -p $(@D)
	cp -L "$$(command -v kmod)" $@

.PHONY: check-dkms check-layouts
check-layouts: $(O)/kernel/env.mk ## layouts from stand-ins for amdgpu-dkms
	tests/kmod/check-layouts $(O)

check-dkms: $(O)/kernel/env.mk ## DKMS from a tarball, a release, a clone and make dkms-install
	@mkdir -p $(O)/dkms
	tests/kmod/dkms-build $(O) tarball $(O)/dkms/from-tarball.ko
	tests/kmod/dkms-build $(O) release $(O)/dkms/from-release.ko
	tests/kmod/dkms-build $(O) clone $(O)/dkms/from-clone.ko
	tests/kmod/dkms-build $(O) make $(O)/dkms/from-make.ko
	tests/kmod/check-layouts $(O)
	tests/kmod/check-refused $(O)

# A test that lasts; not a part of check. With APPEND='slub_debug=FZPU' the
# kernel checks its slabs meanwhile.
STRESS ?= 60
.PHONY: stress
stress: ## readers, births, suspends, evictions, reloads at once (STRESS=s APPEND=...)
	@$(MAKE) --no-print-directory -s vm-ready
	@$(VM_RUN) --judge --vgpu 'gpus=2' --timeout $$(($(STRESS) * 3 + 180)) \
		$(if $(APPEND),--append '$(APPEND)') command 'exec sh /t/stress.sh $(STRESS)'
