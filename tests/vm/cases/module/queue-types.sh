# SPDX-License-Identifier: GPL-2.0-only
# Queues of the types that the other tests have none of: compute with PM4 packets,
# and SDMA by XGMI engines.
. /t/lib.sh

OTHER_TYPES=1 vgpu-load-update --queues 2 --sdma 3 --packet 1ms > "$W/a.out" 2> "$W/a.err" &
p=$!
started="$started $p"
types_are() { [ "$(view $p type 2> /dev/null | sort | uniq -c | tr -s ' \n' ' ')" = "$1" ]; }
wait_for 20 types_are " 2 compute-pm4 3 sdma-xgmi "
wait_for 15 running $p
cat "$VIEW/$p/queues" "$VIEW/$p/hqds"
expect_view $p state active
awk -v p=$p 'NR == 2 { for (i = 2; i <= NF; i++) c[$i] = i - 1 }
	$1 == p { print $c["aql"], $c["pm4"], $c["sdma"], $c["xgmi"], $c["slots"], $c["active"] }' \
	"$DEBUGFS/gpreempt/processes" > "$W/sum"
[ "$(cat "$W/sum")" = "0 2 0 3 11 11" ] || fail "processes says '$(cat "$W/sum")'"
# The engines of XGMI are those behind the two of PCIe, each queue on its own.
[ "$(view $p engine | grep -v -e - | sort -u | wc -l)" -eq 3 ] || fail "not three engines"
hold $p
release_target $p
