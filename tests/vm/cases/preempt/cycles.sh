# SPDX-License-Identifier: GPL-2.0-only
# Measured cycles: each statistic is there, and nothing is lost.
# timeout: 180
. /t/lib.sh

start a --queues 4 --packet 500us
ctl 0 preempt "$(pid a)" --count 100 --hold 2ms --interval 5ms
says '^cycles 100 succeeded 100'
for name in suspend_ioctl_us resume_ioctl_us; do
	line=$(grep "^$name " "$W/ctl") || fail "no $name"
	echo "$line" | awk '{
		for (i = 2; i <= NF; i++) { split($i, w, "="); v[w[1]] = w[2] }
		exit !(v["n"] > 0 && v["min"] > 0 && v["min"] <= v["p50"] && v["p50"] <= v["p90"] &&
			v["p90"] <= v["p99"] && v["p99"] <= v["max"]) }' || fail "$line"
done
says '^first_suspend_us '
says '^session_open_us '
wait_for 15 running "$(pid a)"
expect_progress a
stop a
