# SPDX-License-Identifier: GPL-2.0-only
# The example in Python, in a guest that has Python: a payload of its own.

PYTHON_SCRIPT := docs/examples/gpreempt.py
PYTHON_STAGE := $(O)/python
PYTHON_PAYLOAD := $(O)/vm/payload-python.tar

$(PYTHON_STAGE)/modules: $(PYTHON_SCRIPT) tests/vm/python/stage $(O)/$(LIB_SONAME)
	LD_LIBRARY_PATH=$(O) tests/vm/python/stage $(PYTHON_SCRIPT) $(PYTHON_STAGE)

.PHONY: python-files
python-files: vm-files $(PYTHON_STAGE)/modules
	@tests/vm/mkpayload $(PYTHON_PAYLOAD) modules $(VM_MODULES) bins $(VM_BINS) \
		files $(PYTHON_SCRIPT) $(PYTHON_STAGE) $(O)/$(LIB_SONAME)

.PHONY: check-python
check-python: ## the example in Python, in the virtual machine
	@$(MAKE) --no-print-directory -s vm-ready
	@$(VM_LOCK) $(MAKE) --no-print-directory -s python-files
	@$(VM_RUN) --payload $(PYTHON_PAYLOAD) test $(sort $(wildcard tests/vm/python/*.sh))
