# SPDX-License-Identifier: GPL-2.0-only
# Each PM4 packet of user queues does what it says, also over a suspend in the middle of an indirect
# buffer, which CP keeps in the queue's MQD.
# timeout: 60
. /t/lib.sh

pm4-check > "$W/out" 2>&1 &
p=$!
started="$started $p"
wait_for 20 grep -q '^waits' "$W/out"
hold $p
release_target $p
kill -USR1 $p
wait $p || fail "$(cat "$W/out")"
cat "$W/out"
[ "$(counter 0 pm4_unknown)" -eq 0 ] || fail "a packet was not understood"
[ "$(counter 0 bad_address)" -eq 0 ] || fail "an address was not found"
