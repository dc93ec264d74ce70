# SPDX-License-Identifier: GPL-2.0-only
# AMD's own tests of amdkfd, from a source tree that is given: libhsakmt with tests/kfdtest in it,
# as ROCm/ROCR-Runtime has it. Nothing of it is part of this project.

KFDTEST_DIR := $(O)/kfdtest
KFDTEST_PAYLOAD := $(O)/vm/payload-kfdtest.tar
KFDTEST_SRC = $(wildcard $(KFDTEST)/tests/kfdtest/src/*.cpp $(KFDTEST)/tests/kfdtest/gtest-*/gtest-all.cpp \
	$(KFDTEST)/src/*.c)
KFDTEST_LLVM = $(lastword $(sort $(wildcard /usr/bin/llvm-config-1? /usr/bin/llvm-config-2?)))
KFDTEST_FLAGS = -w $(addprefix -I,$(wildcard $(KFDTEST)/tests/kfdtest/gtest-* \
	$(KFDTEST)/tests/kfdtest/include $(KFDTEST)/include $(KFDTEST)/src)) \
	$(shell pkg-config --cflags libdrm_amdgpu)

vpath %.cpp $(KFDTEST)/tests/kfdtest/src $(wildcard $(KFDTEST)/tests/kfdtest/gtest-*)
$(KFDTEST_DIR)/%.cpp.o: %.cpp
	@mkdir -p $(@D)
	$(call run,CXX)$(CXX) -std=gnu++17 -include tuple $(KFDTEST_FLAGS) \
		$$($(KFDTEST_LLVM) --cppflags) -c -o $@ $<
$(KFDTEST_DIR)/%.c.o: $(KFDTEST)/src/%.c
	@mkdir -p $(@D)
	$(call run,CC)$(CC) -D_GNU_SOURCE $(KFDTEST_FLAGS) -c -o $@ $<
$(KFDTEST_DIR)/kfdtest: $(addprefix $(KFDTEST_DIR)/,$(addsuffix .o,$(notdir $(KFDTEST_SRC))))
	$(call run,LD)$(CXX) -o $@ $^ $$($(KFDTEST_LLVM) --link-static --ldflags --system-libs \
		--libs amdgpuasmparser | sed 's/-lzstd/-l:libzstd.so.1/') \
		$$(pkg-config --libs libdrm_amdgpu libdrm) -lnuma -lpthread -lrt

.PHONY: check-kfdtest kfdtest-files
kfdtest-files: vm-files $(KFDTEST_DIR)/kfdtest
	@tests/vm/mkpayload $(KFDTEST_PAYLOAD) modules $(VM_MODULES) bins $(VM_BINS) \
		$(KFDTEST_DIR)/kfdtest files tests/vgpu/kfdtest/expected

check-kfdtest: ## AMD's kfdtest on the virtual GPU (KFDTEST=a source tree of libhsakmt)
	@[ -f "$(KFDTEST)/tests/kfdtest/CMakeLists.txt" ] || { \
		echo "KFDTEST=DIR: the directory libhsakmt of ROCm/ROCR-Runtime" >&2; exit 2; }
	@tests/vm/install-deps g++ libdrm-dev libnuma-dev "llvm-19-dev|llvm-dev"
	@$(MAKE) --no-print-directory -s vm-ready
	@$(VM_LOCK) $(MAKE) --no-print-directory $(PARALLEL) kfdtest-files
	@$(VM_RUN) --cases tests/vgpu/kfdtest --payload $(KFDTEST_PAYLOAD) test tests/vgpu/kfdtest/kfdtest.sh
