# SPDX-License-Identifier: GPL-2.0-only
# gpreempt: everything is built under $(O). "make help" lists the targets.

O := build
# Of all parts. DKMS wants it there; no other file has a copy that is compiled.
VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
MAKEFLAGS += --no-builtin-rules
CFLAGS_USER := -std=gnu11 -O2 -g -Wall -Wextra -Werror
# Before a command: its kind and its target in place of all of its words. V=1 shows the words.
SILENT = $(findstring s,$(filter-out --%,$(firstword $(MAKEFLAGS))))
run = $(if $(V),,@$(if $(SILENT),,printf '  %-3s %s\n' $(1) $(@:$(O)/%=%);))
# Of a make that this one calls: all processors, each target's output in one piece.
PARALLEL = -s -j$$(nproc) --output-sync=target
SAN := -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all
DEPS := abigail-tools bash-completion build-essential busybox-static check clang 'clang-19|clang' clang-format \
	codespell cppcheck cpio dkms git groff-base kmod libelf-dev libjs-dygraphs libjson-c-dev libkmod-dev libncurses-dev libtraceevent-dev libtracefs-dev \
	'lld-19|lld' mandoc musl-tools mypy pahole perl pkg-config python3 qemu-system-x86 shellcheck sparse systemd tmux universal-ctags xz-utils zsh zstd

# DEBUG_KERNEL=1: with a kernel that looks for mistakes, below build/debug.
FETCHED := $(O)
FETCH_KERNEL = tests/vm/fetch-kernel $(if $(UPDATE),--update)
ifdef DEBUG_KERNEL
override O := $(O)/debug
FETCH_KERNEL = tests/vm/debug-kernel
DEPS += bc bison flex
endif

# KERNEL=7, 6.1, trixie: with another kernel of Debian's, below build/on-7. The
# bench's own is fetched, too: an older one has no header of the debug trap.
ifdef KERNEL
ifdef DEBUG_KERNEL
$(error KERNEL= and DEBUG_KERNEL= are two kernels)
endif
ifneq ($(words $(KERNEL))$(findstring /,$(KERNEL)),1)
$(error KERNEL= is a version or a release of Debian: 7, 6.1, trixie)
endif
override O := $(O)/on-$(KERNEL)
FETCH_KERNEL = tests/vm/fetch-kernel $(FETCHED) && \
	tests/vm/fetch-kernel $(if $(UPDATE),--update) --kernel $(KERNEL)
endif

# AMDGPU=DIR [AMDGPU_SOURCE=DIR]: with the amdgpu.ko in a directory of yours and what
# else lies there, on the bench's kernel or that of KERNEL=, below build/with-amdgpu.
ifdef AMDGPU
ifdef DEBUG_KERNEL
$(error AMDGPU= is for the kernel that it was built for: no DEBUG_KERNEL=)
endif
GIVEN_BASE := $(O)
override O := $(O)/with-amdgpu
FETCH_KERNEL += $(GIVEN_BASE) && tests/vm/given-driver $(GIVEN_BASE)
GIVEN_ARGS = '$(AMDGPU)' $(if $(AMDGPU_SOURCE),'$(AMDGPU_SOURCE)')
endif

# Headers of the kernel that runs here, for the module that "make" builds.
KRUNNING := $(wildcard /lib/modules/$(shell uname -r)/build)

.PHONY: all
all: ## user programs, and gpreempt.ko for the running kernel (else the bench's)
	@printf '  built %s\n' $(sort $(filter $(O)/%,$^) $(USER_BINS) $(USER_LIBS))

# The bench's kernel: KVER, KDIR, KSRC and more. Fetched when a goal needs it.
GOALS := $(or $(MAKECMDGOALS),all)
NEED_KERNEL := vgpu modules check-arrows check-wave-code vm-files payload engines-files sparse checkpatch \
	$(if $(KRUNNING),,all)
ifneq ($(wildcard $(O)/kernel/env.mk)$(filter $(NEED_KERNEL) $(O)/vm/%,$(GOALS)),)
ifeq ($(filter clean distclean,$(GOALS)),)
include $(O)/kernel/env.mk
endif
endif

$(O)/kernel/env.mk:
	@$(MAKE) --no-print-directory -s kernel

-include user/trial/trial.mk
-include user/user.mk
-include user/doc/doc.mk
-include user/install/install.mk
-include user/contrib/criu.mk
-include user/contrib/spank.mk
-include kmod/kmod.mk
-include tests/kmod/tests.mk
-include tests/vgpu/vgpu.mk
-include tests/vgpu/load/load.mk
-include tests/vgpu/wave/wave.mk
-include tests/wave/wave.mk
-include tests/vgpu/rocm/rocm.mk
-include tests/vm/cases/cases.mk
-include tests/musl/musl.mk
-include tests/bench/bench.mk
-include tests/unit/unit.mk
-include tests/mutate/mutate.mk
-include tests/metrics/metrics.mk
-include tests/install/install.mk
-include tests/lint/lint.mk
-include tests/vm/python/python.mk
-include tests/fuzz/fuzz.mk
-include tests/text/text.mk
-include tests/report/report.mk
-include tests/bench/parse.mk
-include tests/bench/top.mk
include tests/vm/vm.mk
-include tests/vgpu/rocm/hip.mk
-include tests/vgpu/kfdtest/kfdtest.mk
-include tests/engines/engines.mk

.PHONY: deps
deps: ## install what all of this needs (apt; as root or with sudo)
	@tests/vm/install-deps $(DEPS)

.PHONY: kernel
kernel: ## fetch the bench's kernel (UPDATE=1: look for a newer one)
	@tests/vm/install-deps kmod xz-utils $(if $(DEBUG_KERNEL),$(DEPS))
	@$(FETCH_KERNEL) $(O) $(GIVEN_ARGS)

.PHONY: rocm
rocm: ## fetch ROCm's user space for the guest (UPDATE=1: look for newer)
	@tests/vm/fetch-rocm $(if $(UPDATE),--update) $(FETCHED)
	@[ $(O) = $(FETCHED) ] || ln -sfn $(abspath $(FETCHED))/rocm $(O)/rocm

.PHONY: qemu
qemu: ## fetch a QEMU that emulates faster, where Debian's backports have one
	@tests/vm/fetch-qemu $(if $(UPDATE),--update) $(FETCHED)
	@[ $(O) = $(FETCHED) ] || ln -sfn $(abspath $(FETCHED))/qemu $(O)/qemu

# From several networks at the same time.
.PHONY: fetch
fetch:
	@$(VM_LOCK) $(MAKE) --no-print-directory -s -j4 deps kernel rocm qemu

.PHONY: vgpu modules user unit captures
vgpu: ## vgpu.ko, the simulated GPU, for the bench's kernel
modules: ## gpreempt.ko for the bench's kernel
user: ## libgpreempt, gpreempt-ctl and gpreempt-lab
unit: ## unit tests

# The parts that make reads at its start (the kernel's version) come first.
.PHONY: vm-ready
vm-ready:
	@$(MAKE) --no-print-directory -s fetch
	@echo "build: programs, modules and the guest's image"
	@$(VM_LOCK) $(MAKE) --no-print-directory $(PARALLEL) vm-files

.PHONY: vm
vm: ## a shell in the virtual machine, or CMD='...' there (VGPU='gpus=8' WAVES=1 VM_FILES=...)
	@$(MAKE) --no-print-directory -s vm-ready >&2
	@$(VM_RUN) --vgpu '$(VGPU)' --gpreempt $(GPREEMPT) --timeout $(TIMEOUT) $(if $(WAVES),--waves) \
		$(if $(value CMD),command "$$CMD",shell)

.PHONY: vmtest
vmtest: ## tests in the virtual machine (T=glob for some of them, SEED=n, REAL=1, CHAOS=1)
	@$(MAKE) --no-print-directory -s vm-ready
	@$(if $(KERNEL)$(AMDGPU),tests/kmod/record-run $(O)) $(VM_RUN) --jobs $(VM_JOBS) \
		$(VM_SUITE) test \
		$$(tests/vm/which-cases $(O) $(or $(VM_CASES),$(error no case is named "$T")))

.PHONY: selftest
selftest: ## does the harness fail what it must fail?
	@$(MAKE) --no-print-directory -s vm-ready
	@tests/vm/selftest $(if $(SHORT),--short) $(O)

# The tiers. check judges a change; check-all is everything, and resumes where it ended;
# check-races looks for races, and decides nothing.
.PHONY: check check-all check-races
ifdef KERNEL
# What is not the kernel's was checked on the bench's. A driver that the build refuses is
# as the table has it, and nothing can be run.
check:
	@$(MAKE) --no-print-directory -s deps kernel
	@tests/kmod/refused-here $(O); case $$? in \
	0) ;; \
	1) status=0; $(MAKE) --no-print-directory vmtest || status=$$?; \
		tests/kmod/kernels-json $(FETCHED) >$(FETCHED)/kernels.json; \
		tests/kmod/kernels-json --summary $(FETCHED); exit $$status ;; \
	*) exit 1 ;; \
	esac
else
check: ## what judges a change, in ten minutes (KERNEL=: all cases on that kernel)
	@GATE=1 tests/check $(O) fetch check-build check-gate check-vm check-demo selftest-short
check-all: ## all checks and cases; goes on where it ended (FRESH=1: from the start)
	@LEAKS=1 LINT_ALL=1 FUZZ_RANDOM=1 KEEP=1 tests/check --all $(O) fetch check-build \
		check-fast check-report vmtest selftest check-python check-engines check-rpm \
		check-first-hour
endif

# The guest that the cases start from boots while the rest is built.
.PHONY: check-build boot check-vm check-demo selftest-short
check-build:
	@$(VM_LOCK) $(MAKE) --no-print-directory $(PARALLEL) boot user modules vgpu captures vm-files
boot: $(O)/vm/vmrun $(O)/vm/boot/key
	@$(VM_RUN) --payload $(O)/vm/boot/key --counted=test save
check-vm:
	@$(MAKE) --no-print-directory vmtest KEEP=1 TIER=gate
check-demo:
	@$(MAKE) --no-print-directory demo
selftest-short:
	@$(MAKE) --no-print-directory selftest SHORT=1

check-races: ## cases of races on two CPUs, and with forced switches (ROUNDS=n SEEDS=n; hours)
	@$(MAKE) --no-print-directory -s vm-ready
	@tests/vm/check-races $(O) '$(or $(ROUNDS),3)' '$(or $(SEEDS),200)' $(VM_RUN)

# Which tests: those of gpreempt.ko, and what makes the driver busy under it.
DEBUG_T := vgpu/boot vgpu/killed vgpu/evicted vgpu/fail-* vgpu/*-again \
	module/[!l]* suspend/stuck
.PHONY: check-debug
check-debug: ## module tests and stress under KASAN, lockdep and kmemleak (builds it first)
	@$(MAKE) --no-print-directory DEBUG_KERNEL=1 vmtest T='$(or $(T),$(DEBUG_T))'
	@$(MAKE) --no-print-directory DEBUG_KERNEL=1 stress

.PHONY: check-hip
check-hip: ## tests of HIP (fetches 100 MB once; not part of check)
	@$(MAKE) --no-print-directory -s fetch
	@$(VM_LOCK) $(MAKE) --no-print-directory -s hip-files
	@$(HIP_RUN) test $(HIP_CASES)

.PHONY: demo
demo: ## a GPU process suspended, measured and resumed, as a short story
	@echo "demo: packages, a kernel and programs come first: minutes once, seconds later"
	@$(MAKE) --no-print-directory -s vm-ready
	@echo "demo: the virtual machine starts"
	@$(VM_RUN) --counted=test --waves --vgpu gpus=1 --timeout 300 command 'exec sh /t/demo.sh' || { \
		case $$? in \
		124) echo "demo: failed: not done in 300 s" ;; \
		12[5-9]|1[3-9]?) echo "demo: failed: the virtual machine or its shell ended" ;; \
		esac; \
		exit 1; \
	}

# Programs; the modules' own fragments add theirs.
USER_C = $(wildcard user/*/*.[ch] user/*/*/*.[ch] include/gpreempt/*.h tests/unit/*.[ch] \
	tests/vm/*.h tests/vm/*/*.[ch] tests/vgpu/load/*.[ch] tests/vgpu/rocm/*.[ch])
# These want the headers of other programs, which a build may have and need not.
FOREIGN_C = user/contrib/%.c tests/vm/tools/amdgpu-criu.c
# Checkers look again at files that changed, and at all when a header did. In the gate
# they look only at what differs from a base: tests/lint/changed. LINT_ALL=1: at all.
HEADERS_KEY = $$(cat $(filter %.h,$(USER_C)) $(KFD_HEADER) | sha256sum)
CHECKPATCH = perl $(KSRC)/scripts/checkpatch.pl --no-tree --strict --terse \
	--no-summary
# What only the kernel has, or wants.
NOT_FOR_USERS := ARRAY_SIZE,AVOID_EXTERNS,BIT_MACRO,CAMELCASE,COMPLEX_MACRO
NOT_FOR_USERS := $(NOT_FOR_USERS),CONSIDER_KSTRTO,EMBEDDED_FUNCTION_NAME,ENOSYS
NOT_FOR_USERS := $(NOT_FOR_USERS),LEADING_SPACE,MACRO_ARG_REUSE,NAKED_SSCANF
NOT_FOR_USERS := $(NOT_FOR_USERS),PREFER_DEFINED_ATTRIBUTE_MACRO
NOT_FOR_USERS := $(NOT_FOR_USERS),PREFER_KERNEL_TYPES,SSCANF_TO_KSTRTO
NOT_FOR_USERS := $(NOT_FOR_USERS),STATIC_CONST_CHAR_ARRAY,STRCPY,STRNCPY
NOT_FOR_USERS := $(NOT_FOR_USERS),LINE_SPACING,MACRO_ARG_UNUSED,MULTIPLE_ASSIGNMENTS
NOT_FOR_USERS := $(NOT_FOR_USERS),PREFER_FALLTHROUGH,SPLIT_STRING,USE_RELATIVE_PATH
NOT_FOR_USERS := $(NOT_FOR_USERS),MACRO_WITH_FLOW_CONTROL,VOLATILE
# What clang-format writes: conditions in an argument, and "(" at the end of a line
# where nothing else fits.
NOT_FOR_USERS := $(NOT_FOR_USERS),PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE
# Lists that are macros; and a string in two where a \x would take a letter more.
NOT_FOR_USERS := $(NOT_FOR_USERS),MULTISTATEMENT_MACRO_USE_DO_WHILE
NOT_FOR_USERS := $(NOT_FOR_USERS),MACRO_ARG_PRECEDENCE,TRAILING_SEMICOLON
NOT_FOR_USERS := $(NOT_FOR_USERS),STRING_FRAGMENTS

# It takes the & of typeof(&function) in a macro for an operator between two words.
TYPEOF_C = $(filter %/module-kmod.h user/lab/trace.h user/ctl/top-term.c,$(USER_C))

.PHONY: sparse sparse-user checkpatch checkpatch-user
sparse: sparse-user ## all C code through sparse
# libc's htole16() and initializers know nothing of the types that sparse has.
SPARSE_USER := sparse -Wsparse-error -Wno-non-pointer-null -U__CHECKER__
sparse-user: $(KFD_HEADER) $(O)/rocm/stamp $(O)/vm-tools/unit-filter.h
	@printf '%s\n' $(filter %.c,$(filter-out $(FOREIGN_C),$(USER_C))) | \
		tests/lint/each -i $(O)/lint/sparse 1 "$(HEADERS_KEY)" $(SPARSE_USER) \
		$(USER_CPPFLAGS) $(LAB_CPPFLAGS) $(filter -I% -D%,$(UNIT_CFLAGS)) -include unit-limits.h \
		-I$(O)/rocm/include -I$(O)/vm-tools
checkpatch: checkpatch-user ## all C code through the kernel's checkpatch.pl
checkpatch-user:
	@printf '%s\n' $(filter-out $(TYPEOF_C),$(USER_C)) | \
		tests/lint/each -c $(O)/lint/checkpatch 8 "" \
		$(CHECKPATCH) --ignore $(NOT_FOR_USERS) -f
	@printf '%s\n' $(TYPEOF_C) | \
		tests/lint/each -c $(O)/lint/checkpatch-typeof 8 "" \
		$(CHECKPATCH) --ignore $(NOT_FOR_USERS),SPACING -f

.PHONY: clean distclean
clean: ## remove what was built, keep what was fetched
	rm -rf $(filter-out $(addprefix $(O)/,apt debug engines kernel kernel.lock kernels linux-% on-% \
		prometheus prometheus.lock qemu qemu.lock rocm rocm.lock hip hip.lock), $(wildcard $(O)/*))
distclean: ## remove all of build/
	rm -rf $(O)

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' \
		$(filter-out %.d,$(MAKEFILE_LIST))
