# SPDX-License-Identifier: GPL-2.0-only
# The pages of report, in a browser.

.PHONY: check-report docs-picture
check-report: user ## pages of "report" in a browser; pictures of them in build/report/
	@tests/vm/install-deps chromium
	@tests/report/check $(O)

docs-picture: user ## docs/report.png, trial.png and top.png, of what is in tests/report/fixtures
	@tests/vm/install-deps chromium
	@tests/report/check $(O) docs
	@tests/report/screen tests/report/fixtures/top.ansi docs/top.png
