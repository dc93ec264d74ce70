# SPDX-License-Identifier: GPL-2.0-only
# The metrics, the rules and the dashboard against Prometheus's own tools and server.

.PHONY: check-metrics
check-metrics: $(UNIT)/test_metrics_command $(UNIT)/test_guard_report $(SCHEMAS) ## metrics, rules and dashboard with Prometheus itself (fetches it once)
	@tests/metrics/fetch-prometheus $(FETCHED)
	@SCHEMAS=$(SCHEMA_DIR) tests/metrics/check-metrics $(UNIT) $(FETCHED)/prometheus
