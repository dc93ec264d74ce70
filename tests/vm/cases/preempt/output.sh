# SPDX-License-Identifier: GPL-2.0-only
# preempt: its lines, its JSON, its samples, and what it says of another process
# on the same GPU.
# tier: gate
# timeout: 120
. /t/lib.sh

# figure LINE KEY: of the last output
figure() {
	sed -n "s/^$1 \(.* \)*$2=\([0-9.]*\).*/\2/p" "$W/ctl"
}

start a --queues 3 --packet 2ms
start b --queues 1 --packet 2ms
step "lines, with another process on the GPU"
ctl 0 preempt "$(pid a)" --count 30 --hold 2ms --interval 5ms --samples "$W/samples"
for name in suspend_ioctl_us suspend_slots_us resume_ioctl_us; do
	grep "^$name " "$W/ctl" | awk '{
		for (i = 2; i <= NF; i++) { split($i, w, "="); v[w[1]] = w[2] }
		good = v["n"] > 0 && v["min"] > 0 && v["min"] <= v["p50"] && v["p50"] <= v["p90"] &&
			v["p90"] <= v["p99"] && v["p99"] <= v["p99.9"] && v["p99.9"] <= v["max"] &&
			v["mean"] >= v["min"] && v["mean"] <= v["max"] }
		END { exit !good }' || fail "$name"
done
[ "$(figure suspend_ioctl_us n)" = 29 ] || fail "the first suspend is not apart"
[ "$(figure resume_ioctl_us n)" = 30 ] || fail "not 30 resumes"
[ -n "$(figure suspend_slots_us resolution)" ] || fail "no resolution"
says '^cycles 30 succeeded 30 rate 100.0%'
says '^verified yes 30 no 0 not_checked 0'

step "the other process is named, and lost its slots for a moment"
says '^disturbed 1 other process'
grep "^disturbed_us pid=$(pid b) comm=vgpu-load by=suspend calls=30 " "$W/ctl" ||
	fail "nothing of the other process"
says '^disturbed_us .* by=resume '

step "samples: a line a cycle, as their columns say"
head -n 1 "$W/samples" | grep -qx 'gpreempt-samples - version: 1.1' || fail "no version"
awk -v pid="$(pid a)" 'NR == 2 { for (i = 2; i <= NF; i++) at[$i] = i - 1 }
	NR > 2 { n++
		if ($at["cycle"] != n || $at["pid"] != pid || $at["requested"] != 3 ||
		    $at["done"] != 3 || $at["verified"] != 1 || $at["held_ns"] < 2000000 ||
		    $at["suspend_ioctl_ns"] <= 0 || $at["resume_ioctl_ns"] <= 0)
			bad = 1 }
	END { exit bad || n != 30 }' "$W/samples" || fail "$(cat "$W/samples")"
# The median of the samples is what was printed.
p50=$(awk 'NR > 3 { print $5 }' "$W/samples" | sort -n | sed -n 15p)
awk -v ns="$p50" -v us="$(figure suspend_ioctl_us p50)" \
	'BEGIN { d = ns / 1000 - us; exit !(ns > 0 && d < 0.06 && d > -0.06) }' ||
	fail "the median of the samples is $p50 ns"

step "some queues"
ctl 0 preempt "$(pid a)" --queues 1 --count 2 --hold 1ms --interval 1ms --verbose
says '^cycle 2: 1 of 1 queues'
ctl 1 preempt "$(pid a)" --queues 7 --count 2
says 'has no queue 7'
ctl 1 preempt "$(pid a)" --priority '>9' --count 2
says 'has no such queues'

step "without the other process"
stop b
ctl 0 preempt "$(pid a)" --count 3 --hold 1ms --interval 1ms
says '^disturbed 0 other'
wait_for 15 running "$(pid a)"
stop a
