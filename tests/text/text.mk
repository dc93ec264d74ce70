# SPDX-License-Identifier: GPL-2.0-only
# The output of the commands that read text.

.PHONY: text
unit: text
text: $(O)/gpreempt-ctl
	@tests/text/check $(O)
