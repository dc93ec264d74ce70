# SPDX-License-Identifier: GPL-2.0-only
# All files of the module: their heads, modes and values, with two GPUs, SDMA
# queues, a process without a queue and one in a PID namespace.
# tier: gate
# vgpu: gpus=2
# timeout: 120
. /t/lib.sh

T=$DEBUGFS/gpreempt

# cell FILE COLUMN VALUE COLUMN2: COLUMN2 of the line that has VALUE in COLUMN
cell() {
	awk -v key="$2" -v value="$3" -v want="$4" '
		NR == 2 { for (i = 2; i <= NF; i++) c[$i] = i - 1; next }
		NR > 2 && $c[key] == value { print $c[want]; exit }' "$1"
}

# is FILE COLUMN VALUE COLUMN2 WANTED
is() {
	_c=$(cell "$1" "$2" "$3" "$4")
	[ "$_c" = "$5" ] || fail "${1##*/}: $4 of $2=$3 is '$_c', not '$5'"
}

start a --queues 3 --sdma 1 --packet 5ms --gpus all --priority 9
(exec 3< /dev/kfd; echo > "$W/empty.ready"; while :; do sleep 1; done) &
e=$!
started="$started $e"
unshare -f -p sh -c 'exec vgpu-load --packet 5ms --rate 100' > "$W/ns.out" 2>&1 &
started="$started $!"
in_namespace() { awk '$2 == 1 && $1 != 1 { print $1 }' "$T/processes" | grep -q .; }
wait_for 15 in_namespace
wait_for 15 in_view $e
p=$(pid a)
wait_for 15 running "$p"

step "heads and modes"
for f in version processes nodes stats pid/$p/queues pid/$p/hqds pid/$p/gpus; do
	head -n 1 "$T/$f" | grep -qx "gpreempt-${f##*/} - version: [0-9]*\.[0-9]*" || fail "$f: line 1"
	sed -n 2p "$T/$f" | grep -q '^# [a-z_]' || fail "$f: line 2"
	[ "$(stat -c %a "$T/$f")" = 400 ] || fail "$f: mode"
	awk 'NR == 2 { n = NF - 1 } NR > 2 && NF != n { exit 1 }' "$T/$f" ||
		fail "$f: lines with another number of cells than names"
	(echo 1 > "$T/$f") 2>/dev/null && fail "$f took a write"
done

step "version"
cat "$T/version"
is "$T/version" key kernel value "$(uname -r)"
layout=btf
[ -e /sys/kernel/btf/amdgpu ] || layout=headers	# a driver of yours
is "$T/version" key layout value $layout
is "$T/version" key feature_sdma value on
is "$T/version" key feature_nodes value on

step "processes"
cat "$T/processes"
is "$T/processes" pid "$p" comm vgpu-load
is "$T/processes" pid "$p" gpus 2
is "$T/processes" pid "$p" queues 8
is "$T/processes" pid "$p" aql 6
is "$T/processes" pid "$p" sdma 2
is "$T/processes" pid "$p" slots 26
is "$T/processes" pid "$p" active 26
is "$T/processes" pid "$p" ns_pid "$p"
is "$T/processes" pid "$p" debugged 0
is "$T/processes" pid $e queues 0
is "$T/processes" pid $e slots 0
[ "$(wc -l < "$VIEW/$e/queues")" -eq 2 ] || fail "a process without a queue has lines"
is "$T/processes" ns_pid 1 queues 1

step "nodes"
cat "$T/nodes"
[ "$(gpu_nodes | wc -l)" -eq 2 ] || fail "not two GPUs"
for n in $(gpu_nodes); do
	id=$(printf 0x%x "$(cat "$TOPOLOGY/$n/gpu_id")")
	is "$T/nodes" node "$n" gpu_id "$id"
	is "$T/nodes" node "$n" gfx "$(property "$n" gfx_target_version)"
	is "$T/nodes" node "$n" xccs "$(property "$n" num_xcc)"
	is "$T/nodes" node "$n" scheduler hws
	is "$T/nodes" node "$n" slots 24
	is "$T/nodes" node "$n" hiq 1
	is "$T/nodes" node "$n" oversubscribed 0
	device=$(cell "$T/nodes" node "$n" device)
	[ -e "/sys/bus/pci/devices/$device" ] || fail "no PCI device $device"
done
is "$T/nodes" node 1 slots_used 4
is "$T/nodes" node 1 mapped 5
is "$T/nodes" node 2 slots_used 3

step "hqds, against what the driver's own dump says"
cat "$VIEW/$p/hqds"
[ "$(awk 'NR > 2' "$VIEW/$p/hqds" | wc -l)" -eq 26 ] || fail "not 26 slots"
for q in 0 1 2 3 4 5; do
	[ "$(awk -v q=$q 'NR > 2 && $1 == q && $9 == 1 { print $4 }' "$VIEW/$p/hqds" | tr '\n' ' ')" = \
		"0 1 2 3 " ] || fail "queue $q is not on each XCC"
done
grep -q "Inst 0,  CP Pipe" "$DEBUGFS/kfd/hqds" || fail "no dump"
stop a

step "stats count"
cat "$T/stats"
[ "$(cell "$T/stats" key registers value)" -gt 0 ] || fail "registers are not counted"
[ "$(cell "$T/stats" key process_max_ns value)" -gt 0 ] || fail "locks are not counted"
