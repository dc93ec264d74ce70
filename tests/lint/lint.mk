# SPDX-License-Identifier: GPL-2.0-only
# Checkers of the sources, and all checks that need no virtual machine.

.PHONY: check-fast check-fast-parts check-gate check-arrows check-library check-cases check-shell check-static check-clang check-format
check-fast: ## what needs no virtual machine: unit tests, command line, all checkers
	@$(MAKE) --no-print-directory deps
	@$(MAKE) --no-print-directory kernel
	@$(MAKE) --no-print-directory $(PARALLEL) user modules
	@$(MAKE) --no-print-directory -k $(PARALLEL) check-fast-parts
	@$(MAKE) --no-print-directory -s check-install
	@echo "check-fast: passed"
# What make check has of it: nothing that builds a release, fetches other kernels or starts
# a server.
GATE_PARTS := unit cli-parts python-package check-arrows check-library check-cases sparse \
	checkpatch check-shell check-static check-clang check-format check-witness \
	check-wave-code
check-fast-parts: $(GATE_PARTS) check-kernels-offline check-metrics
check-gate:
	@$(MAKE) --no-print-directory -k $(PARALLEL) $(GATE_PARTS)

# All with a first line for a shell, and those that busybox runs in the guest.
check-shell:
	@tests/lint/shell $(O)/lint

# Do the folders of user/ use each other as docs/source.md says, without circles? And is
# the way of one act short?
check-arrows: user $(O)/command-doc
	@tests/lint/check-arrows $(O)/user
	@tests/lint/way

# Does the library name no command, and has all that it exports a user?
check-library: user $(O)/command-doc
	@tests/lint/check-library $(O)/user $(O)/command-doc

# Are the tests that documents cite there?
check-cases:
	@tests/lint/check-cases

LINT_C = $(filter user/%.c,$(filter-out $(FOREIGN_C),$(USER_C)))
UNIT_C = $(wildcard tests/unit/*.c tests/fake-kfd/*.c)

CPPCHECK := cppcheck -q --enable=warning,portability --inline-suppr --error-exitcode=1 \
	--suppressions-list=tests/lint/cppcheck-suppressions --std=c11 -Iinclude -Iuser \
	-D_GNU_SOURCE -D__linux__ -D__x86_64__ -D__x86_64
check-static:
	@mkdir -p $(O)/cppcheck
	@$(CPPCHECK) --cppcheck-build-dir=$(O)/cppcheck user

# gcc builds all; clang looks at all that is for users.
check-clang: $(KFD_HEADER)
	@printf '%s\n' $(LINT_C) | \
		tests/lint/each -i $(O)/lint/clang 8 "$(HEADERS_KEY)" \
		clang -fsyntax-only $(USER_CFLAGS) $(LAB_CPPFLAGS) -DGP_HOLDER='""'
	@printf '%s\n' $(UNIT_C) | \
		tests/lint/each -i $(O)/lint/clang-unit 8 "$(HEADERS_KEY)" \
		clang -fsyntax-only $(UNIT_CFLAGS)

# Tables with columns of their own are between "clang-format off" and "on".
FORMAT_C = $(shell find docs include kmod tests user -name '*.[ch]')
check-format:
	@printf '%s\n' $(FORMAT_C) | \
		tests/lint/each $(O)/lint/format 32 "$$(cat .clang-format)" \
		clang-format --dry-run -Werror
	@echo "format: $(words $(FORMAT_C)) files"
