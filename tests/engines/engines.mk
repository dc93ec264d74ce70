# SPDX-License-Identifier: GPL-2.0-only
# A guest with real engines: systemd as PID 1, Slurm, podman, containerd and docker of
# Debian 13, and our packages, installed. Large, so only on demand and in check-all.

ENGINES_MEMORY := 3072
# KUBELET=yes: with a kubelet, for the cases of kubelet/.
KUBELET ?=
ENGINES_PAYLOAD := $(O)/vm/payload-$(if $(KUBELET),kubelet,engines).tar
ENGINES_CASES = $(or $(sort $(foreach t,$(or $T,*),$(wildcard tests/engines/$t.sh))),$(error no case is named "$T"))
# A program of ROCm for a container, with its own loader and libraries.
ENGINES_ROCM := $(O)/hsa-load13 $(O)/rocm/guest/rocm13
# Static: the guest has a libc of its own.
ENGINES_BINS := $(O)/vgpu-load $(VM_TOOL_BINS) $(VM_GPU_TOOL_BINS) \
	$(if $(KUBELET),$(O)/kubelet/kubelet)
ENGINES_RUN = $(O)/vm/vmrun --build $(O) --harness tests/vm --cases tests \
	--payload $(ENGINES_PAYLOAD) --image engines --memory $(ENGINES_MEMORY)

$(O)/engines/stamp: tests/engines/fetch-image
	@tests/vm/install-deps mmdebstrap e2fsprogs
	@tests/engines/fetch-image $(if $(UPDATE),--update) $(O)
	@touch $@

$(O)/engines/tree/boot/disk: $(O)/engines/stamp tests/engines/mkdisk $(O)/kernel/env.mk \
		$(shell find tests/engines/root -type f)
	@tests/engines/mkdisk $(O)

$(O)/vm/engines/key: $(O)/vm/init tests/vm/mkinitramfs tests/vm/module-chains \
		$(O)/engines/tree/boot/disk
	@mkdir -p $(@D)
	@ln -sfn $(abspath $(O))/engines/disk.img $(@D)/disk.img
	tests/vm/mkinitramfs $(O) $(O)/vm/init engines $(O)/engines/tree

# Beside the packages that the guest has.
.PHONY: check-rpm
check-rpm: rpm $(O)/engines/debs/new ## have the RPMs the files of Debian's packages?
	@tests/vm/install-deps cpio
	@tests/install/check-rpm $(RPM)/RPMS $(O)/engines/debs/new
.PHONY: engines-image engines-files engines check-engines check-kubelet
engines-image: ## the disk of the guest with Slurm, podman, containerd and docker (240 MB once)
	@$(MAKE) --no-print-directory -s fetch
	@$(VM_LOCK) $(MAKE) --no-print-directory -s $(O)/vm/engines/key
# Of what is committed or added, as packages.
$(O)/engines/debs/new: tests/engines/older $(shell git ls-files ':!tests')
	@mkdir -p $(@D)
	@$(MAKE) --no-print-directory -s deb >$(O)/engines/deb.log 2>&1 || \
		{ tail -n 20 $(O)/engines/deb.log; exit 1; }
	@tests/engines/older $(DEB) $(@D)
	@touch $@
# Plug-ins of that Debian's CRIU: ours, and one in place of its own.
ENGINES_CRIU := $(O)/engines/gpreempt-criu.so $(O)/engines/amdgpu-criu.so
$(O)/engines/gpreempt-criu.so: user/contrib/criu/gpreempt-criu.c
$(O)/engines/amdgpu-criu.so: tests/vm/tools/amdgpu-criu.c $(KFD_HEADER)
$(ENGINES_CRIU): $(O)/engines/stamp
	$(call run,LD)$(CC) $(CFLAGS_USER) -D_GNU_SOURCE -DGPREEMPT_CTL='"/usr/bin/gpreempt-ctl"' $(KFD_CPPFLAGS) \
		-idirafter $(O)/engines/root/usr/include -fPIC -shared -o $@ $(filter %.c,$^)
# And for its Slurm.
ENGINES_SPANK := $(O)/engines/gpreempt-spank.so
$(ENGINES_SPANK): user/contrib/slurm/gpreempt-spank.c $(O)/engines/stamp
	$(BUILD_SPANK) -idirafter $(O)/engines/root/usr/include -o $@ $<
engines-files: $(ENGINES_CRIU) $(ENGINES_SPANK) $(O)/vm/vmrun $(O)/vm/engines/key $(O)/engines/debs/new $(O)/hsa-load13 $(ENGINES_BINS) $(VM_MODULES)
	@tests/vm/mkpayload $(ENGINES_PAYLOAD) modules $(VM_MODULES) bins $(ENGINES_BINS) \
		data tests/engines/prepare:prepare tests/engines/cri:cri \
		user/contrib/kubernetes/image-root:image-root user/contrib/kubernetes/Dockerfile:Dockerfile \
		$(if $(KUBELET),$(O)/kubelet/gpreempt.json:gpreempt.json) \
		files $(ENGINES_CRIU) $(ENGINES_SPANK) $(ENGINES_ROCM) $(O)/engines/debs
engines: ## cases with real engines (T=glob for some of them), or CMD='...' in that guest
	@$(MAKE) --no-print-directory -s fetch
	@$(VM_LOCK) $(MAKE) --no-print-directory -s engines-files
	@$(ENGINES_RUN) $(if $(value CMD),--vgpu '$(VGPU)' --timeout $(TIMEOUT) command "$$CMD",\
		--jobs 1 --skips tests/vm/skips $(if $(KEEP),--keep) $(if $(FRESH),--fresh) test $(ENGINES_CASES))
check-engines: ## those cases, as a part of check-all: skipped where Debian 13 cannot be fetched
	@$(MAKE) --no-print-directory -s fetch
	@tests/vm/install-deps mmdebstrap e2fsprogs || :
	@tests/engines/fetch-image $(O); case $$? in \
	0) $(MAKE) --no-print-directory engines ;; \
	77) ;; \
	*) exit 1 ;; \
	esac
check-kubelet: ## a pod of a real kubelet, which is built (2.5 minutes once); manifests against the API's schema
	@tests/vm/install-deps python3-yaml dpkg-dev mmdebstrap e2fsprogs
	@tests/engines/kubelet/fetch $(if $(UPDATE),--update) $(O)
	@tests/engines/kubelet/check-manifests $(O)/kubelet/swagger.json user/contrib/kubernetes/*.yaml
	@tests/engines/kubelet/static-pod user/contrib/kubernetes/daemonset.yaml batch >$(O)/kubelet/gpreempt.json
	@$(MAKE) --no-print-directory engines T=kubelet/* KUBELET=yes
