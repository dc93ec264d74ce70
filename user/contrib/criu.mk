# SPDX-License-Identifier: GPL-2.0-only
# The plug-in for CRIU, for those who have its headers: libcriu-dev 4.0 or later. Neither
# "make", "make install" nor a package has it. CRIU_CPPFLAGS: where criu/ is.

CRIU_PLUGIN := $(O)/gpreempt-criu.so
CRIULIBDIR ?= /usr/lib/criu

$(CRIU_PLUGIN): user/contrib/criu/gpreempt-criu.c FORCE
	@mkdir -p $(@D)
	$(call run,LD)$(CC) $(CFLAGS_USER) -D_GNU_SOURCE -DGPREEMPT_CTL='"$(BINDIR)/gpreempt-ctl"' $(CRIU_CPPFLAGS) \
		-fPIC -shared -o $@ $<

.PHONY: criu-plugin install-criu-plugin
criu-plugin: $(CRIU_PLUGIN) ## a plug-in for CRIU, in build/ (wants libcriu-dev 4.0 or later)
install-criu-plugin: criu-plugin ## that plug-in, in CRIULIBDIR; as root
	@install -D -m 0644 $(CRIU_PLUGIN) $(DESTDIR)$(CRIULIBDIR)/gpreempt-criu.so
