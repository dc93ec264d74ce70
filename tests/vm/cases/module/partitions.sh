# SPDX-License-Identifier: GPL-2.0-only
# One device divided into KFD nodes, as MI300's partition modes do: each node has
# XCCs of its own, not from 0 on, its own scheduler and SDMA engines.
# vgpu: gpus=2 xccs=4 partitions=2
# timeout: 120
. /t/lib.sh

T=$DEBUGFS/gpreempt

# node_cell NODE COLUMN: of the file nodes
node_cell() {
	awk -v node="$1" -v want="$2" '
		NR == 2 { for (i = 2; i <= NF; i++) c[$i] = i - 1; next }
		NR > 2 && $c["node"] == node { print $c[want] }' "$T/nodes"
}

gpu_id() { printf 0x%x "$(cat "$TOPOLOGY/$1/gpu_id")"; }

# xccs_of PID GPU_ID: those of its slots
xccs_of() {
	awk -v id="$2" 'NR == 2 { for (i = 2; i <= NF; i++) c[$i] = i - 1; next }
		NR > 2 && $c["gpu_id"] == id && $c["xcc"] ~ /^[0-9]/ { print $c["xcc"] }' \
		"$VIEW/$1/hqds" | sort -u | tr '\n' ' '
}

step "four nodes on two devices"
cat "$T/nodes"
[ "$(gpu_nodes | tr '\n' ' ')" = "1 2 3 4 " ] || fail "KFD has nodes $(gpu_nodes)"
for n in 1 2 3 4; do
	[ "$(node_cell $n gpu_id)" = "$(gpu_id $n)" ] || fail "node $n: gpu_id"
	[ "$(node_cell $n xccs)" = 2 ] || fail "node $n: XCCs"
done
[ "$(node_cell 1 device)" = "$(node_cell 2 device)" ] || fail "1 and 2 are not one device"
[ "$(node_cell 1 device)" != "$(node_cell 3 device)" ] || fail "1 and 3 are one device"

step "metrics has AMD's names of them: index, and partition as location_id has it at its end"
gpreempt-ctl metrics --for 0ms > /tmp/metrics || fail "metrics: $?"
for n in 1 2 3 4; do
	location=$(awk '$1 == "location_id" { print $2 }' "$TOPOLOGY/$n/properties")
	label="gpu_id=\"$((n - 1))\",gpu_partition_id=\"$((location & 7))\",kfd_gpu_id=\"$(gpu_id $n)\""
	grep -q "^gpreempt_gpu_slots{.*,$label," /tmp/metrics || {
		grep "^gpreempt_gpu_slots{" /tmp/metrics
		fail "node $n is not $label"
	}
done
grep -q '^gpreempt_gpu_slots{.*gpu_partition_id="1"' /tmp/metrics || fail "no second partition"

step "a process on each node of the first device"
start a --gpus 0 --queues 2 --sdma 1 --packet 1ms
start b --gpus 1 --queues 3 --sdma 1 --packet 1ms
a=$(pid a) b=$(pid b)
wait_for 15 running "$a"
wait_for 15 running "$b"
cat "$VIEW/$b/queues" "$VIEW/$b/hqds"
expect_view "$a" gpu_id "$(gpu_id 1)"
expect_view "$b" gpu_id "$(gpu_id 2)"
expect_view "$b" state active
expect_view "$b" slots 2 0
expect_view "$b" active 2 0
[ "$(xccs_of "$a" "$(gpu_id 1)")" = "0 1 " ] || fail "XCCs of a: $(xccs_of "$a" "$(gpu_id 1)")"
[ "$(xccs_of "$b" "$(gpu_id 2)")" = "2 3 " ] || fail "XCCs of b: $(xccs_of "$b" "$(gpu_id 2)")"
[ "$(node_cell 1 slots_used)" = 2 ] || fail "node 1 has $(node_cell 1 slots_used) slots used"
[ "$(node_cell 2 slots_used)" = 3 ] || fail "node 2 has $(node_cell 2 slots_used) slots used"

step "one is suspended, the other goes on"
hold "$b"
[ "$(node_cell 2 slots_used)" = 0 ] || fail "slots of node 2"
expect_view "$a" state active
expect_progress a
release_target "$b"
expect_progress b
stop a
stop b

step "one process on all nodes"
start c --gpus all --queues 2 --packet 1ms
c=$(pid c)
wait_for 15 running "$c"
for n in 1 2 3 4; do
	[ "$(view "$c" gpu_id | grep -c "$(gpu_id $n)")" -eq 2 ] || fail "node $n: not 2 queues"
done
[ "$(xccs_of "$c" "$(gpu_id 4)")" = "2 3 " ] || fail "XCCs of the last node"
hold "$c"
release_target "$c"
expect_progress c
stop c

truth_is() {
	[ "$(awk -v pid="$1" '$1 == pid { print $5 }' "$VGPU/0/waves")" = "$2" ]
}

step "waves, in the XCCs of each node: of 64 and of 16 workgroups of four"
for name in 0:64:256 1:16:64; do
	waves=${name##*:} groups=${name#*:}
	start "w$waves" --gpus ${name%%:*} --packet 20ms --workgroups ${groups%:*}
	p=$(pid "w$waves")
	wait_for 15 view_is "$p" waves $waves
	wait_for 15 truth_is "$p" $waves
	stop "w$waves"
done

step "the device is removed and made again, with both nodes, under readers"
(while :; do cat "$T"/* "$T"/pid/*/* > /dev/null 2>&1; done) &
started="$started $!"
unplug() { echo 0 2> /dev/null > "$VGPU/unplug"; }
wait_for 15 unplug
[ "$(awk 'NR > 2' "$T/nodes" | wc -l)" -eq 2 ] || fail "nodes that are gone are shown"
echo 0 > "$VGPU/plug" || fail "cannot make it again"
[ "$(awk 'NR > 2' "$T/nodes" | wc -l)" -eq 4 ] || fail "the new nodes are not shown"
start d --gpus all --packet 1ms
wait_for 15 running "$(pid d)"
stop d
