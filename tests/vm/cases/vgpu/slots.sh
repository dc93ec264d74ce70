# SPDX-License-Identifier: GPL-2.0-only
# Each queue gets one CP slot an XCC, the same pipe and queue on all of them,
# and its registers name its MQD. A dump costs 56 register reads a slot.
# timeout: 90
. /t/lib.sh

start a --queues 5 --packet 1ms
cat "$DEBUGFS/kfd/mqds" > "$W/mqds"
cat "$DEBUGFS/kfd/hqds" > "$W/hqds"
awk -f /t/join.awk "$W/mqds" "$W/hqds" > "$W/join" || fail "the join: $(cat "$W/join")"
cat "$W/join"
grep -q '^queues 5 slots 20 active 20$' "$W/join" || fail "not 5 queues in 20 slots"
[ "$(awk '/^queue / { print $6 }' "$W/join" | sort -u | wc -l)" -eq 5 ] ||
	fail "two queues share a slot"

step "a dump reads 56 registers a slot of 24 and the HIQ, on 4 XCCs; 44 an SDMA RLC of 64"
h0=$(counter 0 reg_reads_hqd) s0=$(counter 0 reg_reads_sdma)
cat "$DEBUGFS/kfd/hqds" > /dev/null
h=$(($(counter 0 reg_reads_hqd) - h0)) s=$(($(counter 0 reg_reads_sdma) - s0))
echo "$h and $s register reads"
# The file is printed again with a bigger buffer until it fits.
[ $h -ge $((56 * 24 * 4)) ] && [ $((h % 56)) -eq 0 ] || fail "$h reads of CP slots"
[ $s -ge $((44 * 64)) ] && [ $((s % 44)) -eq 0 ] || fail "$s reads of SDMA slots"

step "occupancy reads registers too"
o0=$(counter 0 reg_reads_occupancy)
cat "/sys/class/kfd/kfd/proc/$(pid a)"/stats_*/cu_occupancy
[ "$(counter 0 reg_reads_occupancy)" -gt "$o0" ] || fail "no read was counted"
stop a

step "nothing is active once the process is gone"
awk -f /t/join.awk /dev/null "$DEBUGFS/kfd/hqds" | grep -q 'active 0$' || fail "a slot stays active"
