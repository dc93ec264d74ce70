# SPDX-License-Identifier: GPL-2.0-only
# metrics: shares of a process that is busy all the time, one that is busy half of it and
# one that is idle, by waves; suspended and evicted time, and who holds; two GPUs with AMD's
# index. With the rights of its unit, and without /dev/kfd: it is no GPU process.
# timeout: 120
# vgpu: gpus=2
. /t/lib.sh

# As in the unit; check-units compares.
CAPS="CAP_SYS_ADMIN CAP_SYS_PTRACE"

# metrics [ARGS...]: into $W/metrics; fails if it becomes a GPU process.
metrics() {
	# shellcheck disable=SC2086 # several words
	as-unit $CAPS -- gpreempt-ctl metrics --output "$W/metrics" "$@" 2> "$W/said" &
	_m=$!
	_looked=0
	while alive "$_m"; do
		[ ! -e "/sys/class/kfd/kfd/proc/$_m" ] || fail "metrics has opened /dev/kfd"
		_looked=$((_looked + 1))
		sleep 0.1
	done
	wait "$_m" || fail "metrics ended with $?: $(cat "$W/said")"
	[ "$_looked" -ge 3 ] || fail "it was looked at $_looked times"
}

# value FAMILY [LABEL]: of the one sample that has this label.
value() {
	awk -v name="gpreempt_$1{" -v label="${2:-hostname}" 'index($0, name) == 1 && index($0, label) {
		n++; v = $NF } END { if (n != 1) v = n + 0 " samples"; print v }' "$W/metrics"
}

# is VALUE CONDITION WHAT: such as "v > 0.9"
is() {
	awk -v v="$1" "BEGIN { exit !(v == v + 0 && ($2)) }" || {
		cat "$W/metrics"
		fail "$3: $1, not $2"
	}
}

of() { echo "process_id=\"$(pid "$1")\""; }

start busy --queues 2 --packet 20ms --workgroups 64
start half --gpus 1 --packet 100ms --every 200ms --workgroups 64
start idle --every 1000s --delay 1000s
for p in busy half idle; do
	wait_for 15 running "$(pid $p)"
done
[ -e "/sys/class/kfd/kfd/proc/$(pid busy)" ] || fail "a GPU process is not where it should be"

step "shares, by waves"
metrics --for 2s
cat "$W/metrics" | grep -v '^#'
[ ! -s "$W/said" ] || fail "it notes: $(cat "$W/said")"
is "$(value process_busy_ratio "$(of busy)")" "v > 0.8" busy
is "$(value process_busy_ratio "$(of half)")" "v > 0.2 && v < 0.8" half
is "$(value process_busy_ratio "$(of idle)")" "v == 0" idle
is "$(value gpu_busy_ratio 'gpu_id="0"')" "v > 0.8" "GPU 0"
[ "$(grep -c '^gpreempt_.*busy_ratio{.*,method="waves"} ' "$W/metrics")" -eq 5 ] ||
	fail "not five shares by waves"
is "$(value sample_looks)" "v >= 10" looks
is "$(value sample_seconds)" "v >= 2" "sampled time"
is "$(value simulated)" "v == 1" simulated
is "$(value process_queues "$(of busy)")" "v == 2" queues
is "$(value process_slots_ratio "$(of busy)")" "v == 1" slots
is "$(value gpu_slots 'gpu_id="0"')" "v > 0" "slots of the GPU"
is "$(value gpu_processes 'gpu_id="1"')" "v == 1" processes
for gpu in 0 1; do
	# By PCI address, as the topology has it.
	first=$(grep "^gpreempt_gpu_slots{" "$W/metrics" | sed 's/.*pci="\([^"]*\)".*/\1/' |
		sort | sed -n $((gpu + 1))p)
	grep -q "^gpreempt_gpu_slots{.*gpu_id=\"$gpu\",gpu_partition_id=\"NA\",.*pci=\"$first\"" \
		"$W/metrics" || fail "GPU $gpu is not $first"
done
grep -q "^gpreempt_process_held" "$W/metrics" && fail "held: none is"

step "suspended by the debug interface"
ctl 0 suspend "$(pid busy)"
metrics
is "$(value process_busy_ratio "$(of busy)")" "v == 0" "busy while it is suspended"
[ "$(value process_held "$(of busy)")" = 1 ] || fail "not held"
grep -q '^gpreempt_process_held{.*,by="suspend"} 1' "$W/metrics" || fail "by another one"
if has_debug_trap; then
	is "$(value process_suspended_seconds "$(of busy)")" "v > 0.5" "suspended time"
fi
ctl 0 resume "$(pid busy)"

step "paused: that is evicted"
before=$(value process_evicted_seconds_total "$(of busy)")
ctl 0 suspend "$(pid busy)" --how pause
metrics
is "$(value process_evicted_seconds_total "$(of busy)")" "v - $before > 0.5" "evicted time"
[ "$(value process_held "$(of busy)")" = 1 ] || fail "not held"
ctl 0 resume "$(pid busy)"

step "OpenMetrics, and a bound"
gpreempt-ctl metrics --for 0ms --format openmetrics > "$W/metrics"
[ "$(tail -n 1 "$W/metrics")" = "# EOF" ] || fail "no end"
gpreempt-ctl metrics --for 0ms --max-series 1 > "$W/metrics"
is "$(value series_dropped)" "v > 10" dropped
grep -q '^gpreempt_process_' "$W/metrics" && fail "a process is left"
stop busy
stop half
