# SPDX-License-Identifier: GPL-2.0-only
# Manual pages, out of the headers, docs/ and the table of commands.

DOC_DATE := November 20, 2026
DOC_HEADERS := $(filter-out %/view.h,$(wildcard include/gpreempt/*.h))
MAN := $(O)/man
MANUALS := $(MAN)/libgpreempt.3 $(MAN)/gpreempt.4

.PHONY: manuals
user: manuals
manuals: $(MANUALS)

$(MANUALS): $(MAN)/%: docs/man/%.in user/doc/expand
	@mkdir -p $(@D)
	@DOC_DATE='$(DOC_DATE)' DOC_HEADERS='$(DOC_HEADERS)' user/doc/expand $< >$@.new
	@mv $@.new $@

$(MAN)/libgpreempt.3: user/doc/header-to-mdoc $(DOC_HEADERS) docs/examples/suspend.c
$(MAN)/gpreempt.4: user/doc/markdown-to-mdoc docs/abi.md docs/module.md

# Each function is found under its name as well.
FUNCTIONS = $(shell for h in $(DOC_HEADERS); do user/doc/header-to-mdoc names $$h; done)
