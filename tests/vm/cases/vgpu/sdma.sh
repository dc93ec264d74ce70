# SPDX-License-Identifier: GPL-2.0-only
# SDMA queues can be made; mqds and hqds show them, and so does the view.
# timeout: 90
# driver: any
. /t/lib.sh

start a --queues 1 --sdma 2 --packet 1ms
cat "$DEBUGFS/kfd/mqds" > "$W/mqds"
[ "$(grep -c 'SDMA queue on device' "$W/mqds")" -eq 2 ] || fail "not 2 SDMA queues in mqds"
grep -q 'SDMA Engine 0, RLC 0' "$DEBUGFS/kfd/hqds" || fail "no SDMA RLC in hqds"
[ "$(view "$(pid a)" type | grep -c '^sdma$')" -eq 2 ] || fail "not 2 SDMA queues in the view"
wait_for 15 running "$(pid a)"
hold "$(pid a)"
release_target "$(pid a)"
stop a
