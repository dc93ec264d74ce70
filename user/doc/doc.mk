# SPDX-License-Identifier: GPL-2.0-only
# Manual pages, out of the headers, docs/ and the table of commands.

DOC_DATE := November 20, 2026
# The library's header, those that it includes, in its order, and the others.
DOC_FIRST := include/gpreempt/gpreempt.h $(shell sed -n \
	's|^#include [<"]\(gpreempt/.*\)[>"]|include/\1|p' include/gpreempt/gpreempt.h)
DOC_HEADERS := $(filter-out %/view.h,$(DOC_FIRST) \
	$(filter-out $(DOC_FIRST),$(wildcard include/gpreempt/*.h)))
MAN := $(O)/man
MANUALS := $(MAN)/gpreempt-ctl.8 $(MAN)/gpreempt-lab.1 $(MAN)/libgpreempt.3 $(MAN)/gpreempt.4

# JSON Schemas of what --json prints.
SCHEMA_DIR := $(O)/schemas
SCHEMAS := $(patsubst %,$(SCHEMA_DIR)/%.json,$(shell sed -n 's/^= //p' docs/json-keys))
$(SCHEMAS): $(SCHEMA_DIR)/%.json: docs/json-keys user/doc/make-schemas
	@mkdir -p $(@D)
	@user/doc/make-schemas docs/json-keys $* >$@.new
	@mv $@.new $@

.PHONY: manuals
user: manuals
manuals: $(MANUALS) $(SCHEMAS)

$(MANUALS): $(MAN)/%: docs/man/%.in user/doc/expand dkms.conf
	@mkdir -p $(@D)
	@COMMAND_DOC=$(COMMAND_DOC) DOC_DATE='$(DOC_DATE)' VERSION='$(VERSION)' DOC_HEADERS='$(DOC_HEADERS)' user/doc/expand $< >$@.new
	@mv $@.new $@

$(MAN)/gpreempt-ctl.8 $(MAN)/gpreempt-lab.1: $(O)/command-doc user/doc/markdown-to-mdoc docs/user-guide.md
$(MAN)/libgpreempt.3: user/doc/header-to-mdoc $(DOC_HEADERS) docs/examples/suspend.c
$(MAN)/gpreempt.4: user/doc/markdown-to-mdoc docs/abi.md docs/module.md

# Each function is found under its name as well.
FUNCTIONS = $(shell for h in $(DOC_HEADERS); do user/doc/header-to-mdoc names $$h; done)

# The program that prints the tables of commands in all these forms. It runs here. Each has a
# main() beside its table.
DOC_OBJ := $(patsubst user/%.c,$(O)/user/%.o,$(wildcard user/doc/*.c))
DOC_TABLES := $(O)/user/doc/ctl-table.o $(O)/user/doc/lab-table.o
COMMAND_DOC := $(O)/command-doc

$(DOC_TABLES): $(O)/user/doc/%-table.o: $(O)/user/%/main.o | $(DOC_OBJ)
	@objcopy --redefine-sym main=$*_main $< $@
$(COMMAND_DOC): $(DOC_OBJ) $(DOC_TABLES) $(O)/lab.a $(O)/ctl.a $(O)/libgpreempt.a
	$(call run,LD)$(CC) $(CFLAGS_USER) -o $@ $^ $(LAB_LIBS) $(CTL_LIBS) $(LIB_LIBS)

-include $(DOC_OBJ:.o=.d)

COMPLETIONS := $(foreach p,ctl lab,$(O)/gpreempt-$(p).bash $(O)/gpreempt-$(p).zsh)
manuals: $(COMPLETIONS)
$(COMPLETIONS): user/doc/completion.bash.in user/doc/completion.zsh.in user/doc/expand $(COMMAND_DOC)
	@COMMAND_DOC='$(COMMAND_DOC) $(basename $(@F))' user/doc/expand user/doc/completion$(suffix $@).in | \
		sed 's/gpreempt\([-_]\)ctl/gpreempt\1$(patsubst gpreempt-%,%,$(basename $(@F)))/g' >$@.new
	@mv $@.new $@

.PHONY: docs
docs: $(COMMAND_DOC) ## tables of docs/metrics.md, out of the code's
	@$(call replace_rows,docs/metrics.md,metric,families)
	@$(call replace_rows,docs/metrics.md,label,labels)

# Of a file, the rows of the table whose first heading is the second argument.
replace_rows = $(COMMAND_DOC) $(3) >$(O)/rows && \
	awk -v rows=$(O)/rows -v head='| $(2) |' 'index($$0, head) == 1 { \
			print; getline; print; \
			while ((getline row <rows) > 0) print row; \
			skip = 1; next } \
		!/^\|/ { skip = 0 } !skip' $(1) >$(O)/page && cat $(O)/page >$(1)

# The pages whose output a test makes again, with that of today.
.PHONY: docs-output
docs-output: ## what commands print, in README and the documents: again
	@$(MAKE) --no-print-directory -s vm VGPU='gpus=1 xccs=4' \
		CMD='cd /t/docs && sh /t/docs.sh print $(notdir $(VM_DOCS))' >$(O)/pages
	@for page in $(VM_DOCS); do \
		sed -n "/^begin $${page##*/}$$/,/^end $${page##*/}$$/p" $(O)/pages | \
			sed '1d;$$d' >$(O)/page && [ -s $(O)/page ] && \
			cat $(O)/page >$$page || exit 1; \
	done
