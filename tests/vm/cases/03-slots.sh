# SPDX-License-Identifier: GPL-2.0-only
# Each queue gets one CP slot an XCC, the same pipe and queue on all of them,
# and its registers name its MQD. A dump costs 56 register reads a slot.
# timeout: 30
. /t/lib.sh

start a --queues 5 --packet 1ms
cat "$DEBUGFS/kfd/mqds" > "$W/mqds"
cat "$DEBUGFS/kfd/hqds" > "$W/hqds"
awk -f /t/join.awk "$W/mqds" "$W/hqds" > "$W/join" || fail "the join: $(cat "$W/join")"
cat "$W/join"
grep -q '^queues 5 slots 20 active 20$' "$W/join" || fail "not 5 queues in 20 slots"
[ "$(awk '/^queue / { print $6 }' "$W/join" | sort -u | wc -l)" -eq 5 ] ||
	fail "two queues share a slot"
stop a

step "nothing is active once the process is gone"
awk -f /t/join.awk /dev/null "$DEBUGFS/kfd/hqds" | grep -q 'active 0$' || fail "a slot stays active"
