# SPDX-License-Identifier: GPL-2.0-only
# Tests of what users get, on the host.

.PHONY: cli check-install check-manuals
cli: check-install check-manuals ## what is installed, its manuals and completions
check-install: user
	@tests/install/check-install $(O)

check-manuals: manuals
	@tests/install/check-manuals $(MAN)
