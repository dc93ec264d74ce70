# SPDX-License-Identifier: GPL-2.0-only
# Busy % in DPX: each of two processes has the share of its own node of one device.
# vgpu: gpus=1 xccs=4 partitions=2 quantum_ns=400000000
# timeout: 120
. /t/lib.sh

start a --gpus 0 --packet 100ms --rate 3 --workgroups 64 --report 0
start b --gpus 1 --packet 100ms --rate 7 --workgroups 64 --report 0
sleep 1
before=$(cat "$VGPU"/0/busy)
t0=$(uptime_cs)
gpreempt-ctl metrics --for 10s --looks 20ms > "$W/metrics" || fail "metrics ended with $?"
cs=$(($(uptime_cs) - t0))
for label in a b; do
	p=$(pid $label)
	sed -n "s/^gpreempt_process_busy_ratio{\(.*process_id=\"$p\".*\)} /\1 /p" "$W/metrics" > "$W/ratio"
	cat "$W/ratio"
	[ "$(wc -l < "$W/ratio")" -eq 1 ] || fail "$label is not on one node"
	{ echo "$before"; cat "$VGPU"/0/busy; } |
		awk -v pid="$p" -v cs=$cs -v seen="$(sed 's/.* //' "$W/ratio")" '
		$1 == pid { real = $3 / cs / 1e5 - last; last = $3 / cs / 1e5 }
		END {
			printf "process %d: %.1f %% of looks, %.1f %% of the time\n", pid, 100 * seen, real
			exit 100 * seen - real > 2 || real - 100 * seen > 2
		}' || fail "more than two points off"
done
[ "$(grep -c '^gpreempt_gpu_busy_ratio' "$W/metrics")" -eq 2 ] || fail "not two nodes"
grep -q 'gpu_partition_id="1"' "$W/metrics" || fail "no second partition"
