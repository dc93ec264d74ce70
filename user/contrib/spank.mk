# SPDX-License-Identifier: GPL-2.0-only
# The plug-in for Slurm, for those who have its headers: libslurm-dev of the Slurm that loads
# it. Neither "make", "make install" nor a package has it. SPANK_CPPFLAGS: where slurm/ is.

SPANK := $(O)/gpreempt-spank.so
SPANKDIR ?= $(PREFIX)/lib/gpreempt
BUILD_SPANK = $(CC) $(CFLAGS_USER) -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-D_GNU_SOURCE $(HARDEN_CFLAGS) $(HARDEN_LDFLAGS) $(SPANK_CPPFLAGS) -fPIC -shared

$(SPANK): user/contrib/slurm/gpreempt-spank.c FORCE
	@mkdir -p $(@D)
	$(BUILD_SPANK) -o $@ $<

.PHONY: spank install-spank
spank: $(SPANK) ## a plug-in for Slurm, in build/ (wants libslurm-dev)
install-spank: spank ## that plug-in, in SPANKDIR; as root
	@install -D -m 0644 $(SPANK) $(DESTDIR)$(SPANKDIR)/gpreempt-spank.so
