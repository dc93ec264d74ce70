# SPDX-License-Identifier: GPL-2.0-only
# libgpreempt (static and shared), gpreempt-ctl and gpreempt-lab.

LIB_VERSION := $(VERSION)
LIB_SONAME := libgpreempt.so.0
# What a static link with the library needs besides.
# Where the holder is installed; the library starts it from there and nowhere
# else (gpreempt_hold()).
PREFIX ?= /usr/local
LIBEXECDIR ?= $(PREFIX)/libexec
HOLDER := $(LIBEXECDIR)/gpreempt/gpreempt-holder
LIB_LIBS := -ljson-c -pthread
# Programs contain json-c where there is an archive of it: to load and to relocate
# another library takes a fifth of the instructions of a short command.
JSON_ARCHIVE := $(wildcard $(shell $(CC) -print-file-name=libjson-c.a))
PROGRAM_LIBS := $(if $(filter /%,$(JSON_ARCHIVE)),$(JSON_ARCHIVE) -pthread,$(LIB_LIBS))
# gpreempt-ctl loads libkmod and libncursesw when it needs them: only their headers are used here.
CTL_LIBS := -ldl
# Only programs with gpreempt-lab's trace get these.
LAB_LIBS := -Wl,--push-state,--as-needed -ltracefs -ltraceevent -Wl,--pop-state
TRACE_CPPFLAGS := $(addprefix -isystem /usr/include/,tracefs traceevent)

# linux/kfd_ioctl.h is not in the tree: the libc's, the kernel headers', or
# those of amdgpu-dkms, whichever first knows the debug trap.
KFD_INCLUDE := $(O)/kfd-include
KFD_HEADER := $(KFD_INCLUDE)/linux/kfd_ioctl.h
KFD_CPPFLAGS := -D__user= -isystem $(KFD_INCLUDE)
KFD_CANDIDATES = $(KFD_UAPI) /usr/include $(KUAPI) $(KDIR)/include/uapi \
	$(KDIR)/source/include/uapi \
	$(wildcard $(FETCHED)/kernel/usr/src/linux-headers-*-common/include/uapi) \
	$(wildcard $(dir $(KDIR))linux-headers-*-common/include/uapi) \
	$(wildcard /lib/modules/*/source/include/uapi) \
	$(wildcard /usr/src/linux-headers-*/include/uapi) \
	$(wildcard /usr/src/amdgpu-*/include/uapi) \
	$(wildcard $(O)/kernel/usr/src/linux-headers-*-common/include/uapi)

# The page of report: the files beside it and dygraphs, in one.
DYGRAPHS ?= /usr/share/javascript/dygraphs
REPORT_PAGE := $(O)/report.html

USER_CPPFLAGS := -D_GNU_SOURCE -Iinclude -Iuser $(KFD_CPPFLAGS) \
	-DGP_VERSION='"$(LIB_VERSION)"'
LAB_CPPFLAGS := $(TRACE_CPPFLAGS) -DREPORT_PAGE='"$(REPORT_PAGE)"'
USER_CFLAGS = $(CFLAGS_USER) -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla -fvisibility=hidden -fPIC $(USER_CPPFLAGS)

# gpreempt-ctl is root's, and reads what others write. Each flag if the compiler
# has it, and 3 of _FORTIFY_SOURCE only if it and the libc can: else they warn.
if_takes = $(shell $(CC) -Werror -O2 $(1) -include stdlib.h -x c -c -o /dev/null \
	/dev/null 2>/dev/null && echo '$(1)')
FORTIFY3 := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
HARDEN_CFLAGS := $(call if_takes,-fstack-protector-strong) \
	$(call if_takes,-fstack-clash-protection) $(call if_takes,-fcf-protection) \
	$(or $(call if_takes,$(FORTIFY3)),$(FORTIFY3:3=2))
HARDEN_LDFLAGS := -Wl,-z,relro,-z,now,-z,noexecstack

SHARED_SRC := $(wildcard user/shared/*.c)
LIB_SRC := $(wildcard user/lib/*/*.c)
CTL_SRC := $(filter-out user/hold/main.c $(LOAD_SRC_ALONE),$(wildcard $(foreach d,cli hold guard trial ctl,user/$(d)/*.c)))
LAB_SRC := $(wildcard user/lab/*.c)
SHARED_OBJ := $(SHARED_SRC:user/%.c=$(O)/user/%.o)
LIB_OBJ := $(LIB_SRC:user/%.c=$(O)/user/%.o) $(SHARED_OBJ)
CTL_OBJ := $(CTL_SRC:user/%.c=$(O)/user/%.o)
LAB_OBJ := $(LAB_SRC:user/%.c=$(O)/user/%.o)

USER_BINS := $(O)/gpreempt-ctl $(O)/gpreempt-lab $(O)/gpreempt-holder
USER_LIBS := $(O)/libgpreempt.a $(O)/$(LIB_SONAME)
VM_BINS += $(USER_BINS)

.PHONY: all user
all: user
user: $(USER_BINS) $(USER_LIBS)

$(KFD_HEADER): user/kfd-header
	@user/kfd-header $(KFD_INCLUDE) $(KFD_CANDIDATES) || { tests/vm/fetch-kernel --headers $(FETCHED) && \
		user/kfd-header $(KFD_INCLUDE) $(FETCHED)/kernel-headers/usr/src/*/include/uapi; } || { \
		echo 'Install the headers of Linux 6.5 or newer, or amdgpu-dkms; or name an include' \
			'directory: make KFD_UAPI=DIR' >&2; exit 1; }

$(O)/user/%.o: user/%.c | $(KFD_HEADER)
	@mkdir -p $(@D)
	$(call run,CC)$(CC) $(USER_CFLAGS) $(HARDEN_CFLAGS) -MMD -MP -c -o $@ $<
$(LAB_OBJ): USER_CPPFLAGS += $(LAB_CPPFLAGS)

$(O)/libgpreempt.a: $(LIB_OBJ)
	@rm -f $@
	$(call run,AR)$(AR) rcsP $@ $^

$(O)/$(LIB_SONAME): $(LIB_OBJ) user/lib/libgpreempt.sym
	$(call run,LD)$(CC) $(CFLAGS_USER) $(HARDEN_LDFLAGS) -shared -Wl,-soname,$(LIB_SONAME) \
		-Wl,--version-script=user/lib/libgpreempt.sym -Wl,-z,defs \
		-o $@ $(LIB_OBJ) $(LIB_LIBS)
	@ln -sf $(LIB_SONAME) $(O)/libgpreempt.so

$(O)/gpreempt-ctl: $(CTL_OBJ) $(O)/libgpreempt.a
	$(call run,LD)$(CC) $(CFLAGS_USER) $(HARDEN_LDFLAGS) -pie -o $@ $^ $(CTL_LIBS) $(PROGRAM_LIBS)

# The holder and gpreempt-lab have parts of gpreempt-ctl; the linker takes what they need.
$(O)/ctl.a: $(filter-out %/ctl/main.o,$(CTL_OBJ))
$(O)/lab.a: $(filter-out %/lab/main.o,$(LAB_OBJ))
$(O)/ctl.a $(O)/lab.a:
	@rm -f $@
	$(call run,AR)$(AR) rcsP $@ $^

$(O)/gpreempt-lab: $(O)/user/lab/main.o $(O)/lab.a $(O)/ctl.a $(O)/libgpreempt.a
	$(call run,LD)$(CC) $(CFLAGS_USER) $(HARDEN_LDFLAGS) -pie -o $@ $^ $(LAB_LIBS) $(CTL_LIBS) $(PROGRAM_LIBS)

$(O)/gpreempt-holder: $(O)/user/hold/main.o $(O)/ctl.a $(O)/libgpreempt.a
	$(call run,LD)$(CC) $(CFLAGS_USER) $(HARDEN_LDFLAGS) -pie -o $@ $^ -Wl,--as-needed $(CTL_LIBS) $(PROGRAM_LIBS)

REPORT_PARTS := user/lab/make-page $(addprefix user/lab/page.,html css js)
$(REPORT_PAGE): $(REPORT_PARTS) $(wildcard $(DYGRAPHS)/dygraph.min.*)
	@mkdir -p $(@D)
	@user/lab/make-page user/lab '$(DYGRAPHS)' >$@.new && mv $@.new $@

# They contain the page, and a result.
$(O)/user/lab/report.o: $(REPORT_PAGE)
$(O)/user/lab/trial.o: user/lab/trial-reference.json

# Built again when the version changes.
$(O)/user/lib/core/handle.o: dkms.conf

# Built again when another place is given.
$(O)/user/ctl/trial.o: USER_CPPFLAGS += -DGP_LOAD='"$(dir $(HOLDER))gpreempt-load"'
$(O)/user/lib/preempt/hold.o: USER_CPPFLAGS += -DGP_HOLDER='"$(HOLDER)"'
$(O)/user/ctl/trial.o $(O)/user/lib/preempt/hold.o: $(O)/holder-path
$(O)/holder-path: FORCE
	@mkdir -p $(@D)
	@echo '$(HOLDER)' | cmp -s - $@ || echo '$(HOLDER)' >$@
.PHONY: FORCE

-include $(O)/user/hold/main.d $(LIB_OBJ:.o=.d) $(CTL_OBJ:.o=.d) $(LAB_OBJ:.o=.d)
