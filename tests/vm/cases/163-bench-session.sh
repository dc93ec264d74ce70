# SPDX-License-Identifier: GPL-2.0-only
# The parts "session" and "held" of make bench, short: the figures are there. What
# they must be is for make bench, and so is the count of instructions, which takes
# minutes of an emulated CPU. That no library is loaded at each start which few
# commands need is asked by tests/install/check-install.
# vgpu: gpus=8 xccs=4
# timeout: 120
. /t/lib.sh

# has KEY [VALUE]: a figure above 0
has() {
	_value=$(awk -v key="$1" '$1 == key { print $2 }' "$W/out")
	awk -v value="$_value" 'BEGIN { exit !(value > 0) }' || fail "$1 is '$_value'"
	[ -z "$2" ] || [ "$_value" = "$2" ] || fail "$1 is $_value, not $2"
}

step "session"
BENCH_CYCLES=20 sh /t/bench/parts/session.sh > "$W/out" 2>&1 || fail "$(cat "$W/out")"
cat "$W/out"
has overhead_n 20
has overhead_rounds 3
has session_opens_n 20
for key in session_open_us first_suspend_us; do
	has $key
done
for op in suspend resume; do
	has ${op}_overhead_ratio
	# The middle one of three rounds, and that of its own medians.
	awk -v op=$op '{ v[$1] = $2 }
		END { r = v[op "_overhead_ratio"]; d = v[op "_session_us"] / v[op "_bare_us"] - r
			exit !(v[op "_overhead_ratio_least"] <= r && r <= v[op "_overhead_ratio_most"] &&
				d < 0.01 && d > -0.01) }' "$W/out" || fail "$op: the ratios contradict each other"
done

step "held"
BENCH_RUNS=3 BENCH_LIST=0 BENCH_NOSTEPS=1 sh /t/bench/parts/held.sh > "$W/out" 2>&1 || fail "$(cat "$W/out")"
cat "$W/out"
has held_suspend_n 3
has held_suspend_wall_us
has held_suspend_cpu_us
wait_for 15 nothing_held
