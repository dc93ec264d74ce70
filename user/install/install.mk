# SPDX-License-Identifier: GPL-2.0-only
# make install, uninstall and dist. The module is DKMS's: make dkms-install.

PREFIX ?= /usr/local
LIBNAME := $(shell user/install/libdir $(CC))
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/$(LIBNAME)
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
DOCDIR ?= $(PREFIX)/share/doc/gpreempt
DATADIR ?= $(PREFIX)/share/gpreempt
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
TMPFILESDIR ?= $(PREFIX)/lib/tmpfiles.d
SYSTEMDDIR ?= $(PREFIX)/lib/systemd/system

# Where this host's Python looks, below PREFIX.
PYTHONDIR ?= $(shell user/python/where $(PREFIX) 2>/dev/null)

HEADERS := $(wildcard include/gpreempt/*.h)
PC := $(O)/gpreempt.pc
PYTHON_FILES := $(wildcard user/python/gpreempt/*.py) user/python/gpreempt/py.typed
UNITS := $(patsubst user/install/%.in,$(O)/units/%,$(wildcard user/install/*.service.in user/install/*.timer.in))
CONTRIB := $(wildcard user/contrib/*/*)
UNIT_PARTS := user/install/service-common user/install/service-hardened

# file:where it goes:mode. A where that ends with "/" is a directory.
INSTALLS = $(O)/gpreempt-ctl:$(BINDIR)/:0755 \
	$(O)/gpreempt-lab:$(BINDIR)/:0755 \
	$(O)/gpreempt-holder:$(LIBEXECDIR)/gpreempt/:0755 \
	$(O)/gpreempt-load:$(LIBEXECDIR)/gpreempt/:0755 \
	$(O)/libgpreempt.a:$(LIBDIR)/:0644 \
	$(O)/$(LIB_SONAME):$(LIBDIR)/libgpreempt.so.$(LIB_VERSION):0644 \
	$(PC):$(LIBDIR)/pkgconfig/:0644 \
	$(HEADERS:%=%:$(INCLUDEDIR)/gpreempt/:0644) \
	$(foreach m,$(MANUALS),$(m):$(MANDIR)/man$(patsubst .%,%,$(suffix $(m)))/:0644) \
	$(foreach p,gpreempt-ctl gpreempt-lab,$(O)/$(p).bash:$(BASHDIR)/$(p):0644 \
		$(O)/$(p).zsh:$(ZSHDIR)/_$(p):0644) \
	$(SCHEMAS:%=%:$(DATADIR)/schemas/:0644) \
	user/install/gpreempt.conf:$(TMPFILESDIR)/:0644 \
	$(UNITS:%=%:$(SYSTEMDDIR)/:0644) \
	$(foreach c,$(CONTRIB),$(c):$(DOCDIR)/$(patsubst user/%,%,$(dir $(c))):0644) \
	$(if $(PYTHONDIR),$(PYTHON_FILES:%=%:$(PYTHONDIR)/gpreempt/:0644)) \
	README.md:$(DOCDIR)/:0644 \
	$(patsubst %,%:$(DOCDIR)/docs/:0644,$(wildcard docs/*.md)) \
	$(patsubst %,%:$(DOCDIR)/docs/zh/:0644,$(wildcard docs/zh/*.md)) \
	$(patsubst %,%:$(DOCDIR)/docs/examples/:0644,$(wildcard docs/examples/*))
# name:what it is a link to
LINKS = $(LIBDIR)/$(LIB_SONAME):libgpreempt.so.$(LIB_VERSION) \
	$(LIBDIR)/libgpreempt.so:$(LIB_SONAME) \
	$(FUNCTIONS:%=$(MANDIR)/man3/%.3:libgpreempt.3)
# Directories that are ours alone, children first.
OWN_DIRS = $(LIBEXECDIR)/gpreempt $(DATADIR)/schemas $(DATADIR) $(if $(PYTHONDIR),$(PYTHONDIR)/gpreempt) $(INCLUDEDIR)/gpreempt $(DOCDIR)/docs/examples $(DOCDIR)/docs/zh $(DOCDIR)/docs \
	$(sort $(patsubst user/%/,$(DOCDIR)/%,$(dir $(CONTRIB)))) $(DOCDIR)/contrib $(DOCDIR)

part = $(word $(1),$(subst :, ,$(2)))
# Where an entry of INSTALLS goes, with its name.
target = $(call part,2,$(1))$(if $(filter %/,$(call part,2,$(1))),$(notdir $(call part,1,$(1))))

define newline


endef

# Not of DESTDIR: it names the places of later.
$(PC): user/install/gpreempt.pc.in user/user.mk user/install/install.mk FORCE
	@mkdir -p $(@D)
	@sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(LIB_VERSION)|' \
		-e 's|@LIBDIR@|$(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))|' \
		-e 's|@INCLUDEDIR@|$(patsubst $(PREFIX)/%,$${prefix}/%,$(INCLUDEDIR))|' \
		-e 's|@LIBS@|$(LIB_LIBS)|' $< >$@
$(UNITS): $(O)/units/%: user/install/%.in $(UNIT_PARTS) user/install/install.mk FORCE
	@mkdir -p $(@D)
	@sed -e '/^@COMMON@/{r user/install/service-common' -e 'd}' $< | \
		sed -e '/^@HARDENED@/{r user/install/service-hardened' -e 'd}' | \
		sed -e 's|@BINDIR@|$(BINDIR)|' >$@
.PHONY: FORCE

.PHONY: install
install: user $(PC) $(UNITS) ## commands, library, headers, manuals (DESTDIR, PREFIX, LIBDIR, PYTHONDIR); as root
	$(foreach i,$(INSTALLS),@install -D -m $(call part,3,$(i)) \
		$(call part,1,$(i)) $(DESTDIR)$(call target,$(i))$(newline)	)
	$(foreach l,$(LINKS),@ln -sf $(call part,2,$(l)) $(DESTDIR)$(call part,1,$(l))$(newline)	)
	@$(if $(DESTDIR),,ldconfig; systemd-tmpfiles --create gpreempt.conf 2>/dev/null || :)

.PHONY: uninstall
uninstall: ## take away what install put there, with the same variables
	@rm -f $(foreach i,$(INSTALLS),$(DESTDIR)$(call target,$(i)))
	@rm -f $(foreach l,$(LINKS),$(DESTDIR)$(call part,1,$(l)))
	@# Python itself writes this one.
	@$(if $(PYTHONDIR),rm -rf $(DESTDIR)$(PYTHONDIR)/gpreempt/__pycache__)
	@$(foreach d,$(OWN_DIRS),[ ! -d $(DESTDIR)$(d) ] || rmdir $(DESTDIR)$(d);)
	@$(if $(DESTDIR),,ldconfig)

DIST := $(O)/gpreempt-$(LIB_VERSION).tar.gz

.PHONY: dist
dist: ## a release as a tarball: what is committed
	@mkdir -p $(O)
	@git archive --format=tar.gz --prefix=gpreempt-$(LIB_VERSION)/ -o $(DIST) HEAD
	@echo $(DIST)

# A release's tarball has no index of git, and nothing else but build/.
SOURCES = { git ls-files -z 2>/dev/null || find . -path ./build -prune -o -type f -print0; }

# Debian's packages, of what is in the index of git. dpkg-buildpackage wants debian/ at
# the top of a tree.
DEB := $(O)/deb
DEB_TREE := $(DEB)/gpreempt-$(LIB_VERSION)
DEB_NEEDS := debhelper dh-dkms dh-python fakeroot lintian

.PHONY: deb
deb: $(KFD_HEADER) ## packages for Debian, in build/deb
	@tests/vm/install-deps $(DEB_NEEDS)
	@rm -rf $(DEB)
	@mkdir -p $(DEB_TREE)
	@$(SOURCES) | xargs -0 cp --parents -t $(DEB_TREE)
	@cp -r user/install/debian $(DEB_TREE)/
	@cd $(DEB_TREE) && KFD_UAPI=$(abspath $(KFD_INCLUDE)) dpkg-buildpackage -b -us -uc >../log 2>&1 || { tail -n 30 ../log; exit 1; }
	@rm -rf $(DEB_TREE)
	@lintian --fail-on error,warning $(DEB)/*.changes
	@ls $(DEB)/*.deb

# RPMs of the same files. rpmbuild here is Debian's, which has neither the packages that the
# spec wants nor the macros of RHEL.
RPM := $(O)/rpm
RPM_FOR_RHEL = --nodeps --define '_topdir $(abspath $(RPM))' --define '_libdir /usr/lib64' \
	--define 'python3_sitelib /usr/lib/python3.9/site-packages' --define 'dist .el9' \
	--define 'ldconfig_scriptlets(n:) %nil' --define '_unitdir /usr/lib/systemd/system' \
	--define '_tmpfilesdir /usr/lib/tmpfiles.d'

.PHONY: rpm
rpm: $(KFD_HEADER) ## packages for RHEL, in build/rpm
	@tests/vm/install-deps rpm rpmlint
	@rm -rf $(RPM)
	@mkdir -p $(RPM)/SOURCES
	@$(SOURCES) | tar --null -T - --transform 's|^|gpreempt-$(LIB_VERSION)/|' \
		-czf $(RPM)/SOURCES/gpreempt-$(LIB_VERSION).tar.gz
	@KFD_UAPI=$(abspath $(KFD_INCLUDE)) rpmbuild -bb $(RPM_FOR_RHEL) user/install/rpm/gpreempt.spec \
		>$(RPM)/log 2>&1 || { tail -n 30 $(RPM)/log; exit 1; }
	@rpmlint --strict -c user/install/rpm/rpmlint.toml user/install/rpm/gpreempt.spec \
		$(RPM)/RPMS/*/*.rpm >$(RPM)/lint || { cat $(RPM)/lint; exit 1; }
	@ls $(RPM)/RPMS/*/*.rpm
