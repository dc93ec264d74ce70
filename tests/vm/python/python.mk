# SPDX-License-Identifier: GPL-2.0-only
# The Python package, in a guest that has Python: a payload of its own.

PYTHON_SCRIPTS := docs/examples/scheduler.py tests/vm/python/served.py \
	tests/vm/python/online.py tests/vm/python/held.py
PYTHON_PACKAGE := $(wildcard user/python/gpreempt/*.py)
PYTHON_STAGE := $(O)/python
PYTHON_PAYLOAD := $(O)/vm/payload-python.tar

$(PYTHON_STAGE)/modules: $(PYTHON_SCRIPTS) $(PYTHON_PACKAGE) tests/vm/python/stage \
		$(O)/$(LIB_SONAME)
	LD_LIBRARY_PATH=$(O) tests/vm/python/stage $(PYTHON_STAGE) $(O)/$(LIB_SONAME) \
		$(PYTHON_SCRIPTS)
	@mkdir -p $(O)/python-package/gpreempt
	@cp user/python/gpreempt/*.py $(O)/python-package/gpreempt
	@/usr/bin/python3 -m compileall -q --invalidation-mode unchecked-hash $(O)/python-package

.PHONY: python-files
python-files: vm-files $(PYTHON_STAGE)/modules
	@tests/vm/mkpayload $(PYTHON_PAYLOAD) modules $(VM_MODULES) bins $(VM_BINS) \
		files $(PYTHON_SCRIPTS) $(O)/python-package/gpreempt $(PYTHON_STAGE) $(O)/$(LIB_SONAME)

.PHONY: check-python
check-python: ## the Python package: its types and tests, then in the virtual machine
	@$(VM_LOCK) $(MAKE) --no-print-directory -s python-package
	@$(MAKE) --no-print-directory -s vm-ready
	@$(VM_LOCK) $(MAKE) --no-print-directory -s python-files
	@$(VM_RUN) --payload $(PYTHON_PAYLOAD) test $(sort $(wildcard tests/vm/python/*.sh))

.PHONY: python-package
python-package: user
	@tests/python/check-python-package $(O)
