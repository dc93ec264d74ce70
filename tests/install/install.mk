# SPDX-License-Identifier: GPL-2.0-only
# Tests of what users get, on the host.

.PHONY: cli cli-parts check-install check-manuals check-words check-completions check-usage \
	check-units check-hardening check-library-abi check-version check-roots check-first-hour
cli: ## what is installed; manuals, completions and documents against the commands
	@$(MAKE) --no-print-directory cli-parts
	@$(MAKE) --no-print-directory check-install
cli-parts: check-manuals check-words check-completions check-usage check-units \
	check-hardening check-library-abi check-version
# It links again for other prefixes: not beside the others.
check-install: user
	@tests/install/check-install $(O)

check-manuals: manuals
	@tests/install/check-manuals $(MAN)

# Texts, comments and strings in plain English, without mistakes in spelling; and the
# translated documents with headings, tables, links and blocks of the English ones.
WORDS := README.md docs user kmod include tests Makefile Kbuild dkms.conf
check-words: user $(COMMAND_DOC)
	@tests/install/check-words $(O)
	@tests/words/check $(WORDS)
	@codespell -q 3 -I tests/words/spelling-ignore --skip \
		'docs/zh,tests/unit/fixtures,tests/text/golden,tests/fuzz/seeds,tests/vm/fixtures' \
		$(WORDS)
	@tests/words/translation

check-completions: manuals
	@tests/install/check-bash $(O)
	@tests/install/check-zsh $(O)

check-version: user manuals
	@tests/install/check-version $(O)

check-usage: user
	@tests/cli/check-usage $(O)

check-units: user $(UNITS)
	@tests/install/check-units $(O)

check-hardening: user
	@tests/install/check-hardening $(O)

ROOTS ?= trixie sid
check-roots: ## builds and unit tests in roots of other releases of Debian (ROOTS='trixie sid')
	@tests/install/roots $(O)/roots $(ROOTS)

FIRST ?= bookworm trixie
check-first-hour: ## README's commands in bare roots of Debian (FIRST='bookworm trixie')
	@tests/vm/install-deps mmdebstrap
	@tests/install/first-hour $(O)/first-hour $(FIRST)

check-library-abi: ## has the library's binary interface all that the last release has?
	@tests/install/check-library-abi

