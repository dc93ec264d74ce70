# SPDX-License-Identifier: GPL-2.0-only
# The parts "session" and "held" of make bench, short: the figures are there, and
# those of "held", which count instructions and so are the same on any host, are
# within their bars. What the others must be is for make bench.
# vgpu: gpus=8 xccs=4
# timeout: 300
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
	# The middle one of three rounds, that of its own medians, and near 1.
	awk -v op=$op '{ v[$1] = $2 }
		END { r = v[op "_overhead_ratio"]; d = v[op "_session_us"] / v[op "_bare_us"] - r
			exit !(v[op "_overhead_ratio_least"] <= r && r <= v[op "_overhead_ratio_most"] &&
				d < 0.01 && d > -0.01 && r < 1.1) }' "$W/out" || fail "$op: too much, or the ratios contradict each other"
done

# within_bars PART: those of tests/bench/bars, all of which must have been printed
within_bars() {
	awk -v part="$1" '
		FILENAME ~ /bars$/ { if ($1 == part) { how[$2] = $3; bar[$2] = $4 }; next }
		{ value[$1] = $2 }
		END {
			for (key in bar) {
				n++
				bad = !(key in value) || (how[key] == "max" ? \
					value[key] + 0 > bar[key] + 0 : value[key] + 0 < bar[key] + 0)
				if (bad)
					print key " is \"" value[key] "\", " how[key] " " bar[key]
				failed = failed || bad
			}
			exit failed || !n
		}' /t/bench/bars "$W/out" || fail "$1 is not within its bars"
}

step "held"
BENCH_RUNS=1 sh /t/bench/parts/held.sh > "$W/out" 2>&1 || fail "$(cat "$W/out")"
cat "$W/out"
for key in held_suspend_wall_us held_suspend_cpu_us held_suspend_user_instructions \
	list20_user_instructions; do
	has $key
done
within_bars held
wait_for 15 nothing_held
