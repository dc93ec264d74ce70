# SPDX-License-Identifier: GPL-2.0-only
# The output of the commands that read text.

.PHONY: text
ifndef T
unit: text
endif
text: $(O)/gpreempt-lab
	@tests/text/check $(O)
