# SPDX-License-Identifier: GPL-2.0-only
# A scheduler (MES) that chooses the slots of SDMA queues itself, and of which the
# driver does not know whether more is mapped than fits: the one is found by the
# queue's doorbell, the other is not guessed.
# timeout: 90
. /t/lib.sh

T=$DEBUGFS/gpreempt

# node_cell COLUMN: of the only GPU
node_cell() {
	awk -v want="$1" 'NR == 2 { for (i = 2; i <= NF; i++) c[$i] = i - 1 }
		NR == 3 { print $c[want] }' "$T/nodes"
}

start a --queues 1 --sdma 1 --packet 1ms
p=$(pid a)
wait_for 15 running "$p"
sdma=$(awk 'NR > 2 && $3 == "sdma" { print $1 }' "$VIEW/$p/queues")
[ "$(node_cell scheduler)" = hws ] || fail "scheduler is $(node_cell scheduler)"
[ "$(node_cell oversubscribed)" = 0 ] || fail "oversubscribed is $(node_cell oversubscribed)"

switch 0 mes 1
cat "$VIEW/$p/queues" "$T/nodes" > "$W/seen"
view "$p" hardware "$sdma" > "$W/sdma"
view "$p" active "$sdma" >> "$W/sdma"
view "$p" active "$sdma" >> "$W/sdma"
view "$p" hardware 0 > "$W/compute"
view "$p" active 0 >> "$W/compute"
scheduler=$(node_cell scheduler) over=$(node_cell oversubscribed)
switch 0 mes 0

cat "$W/seen"
[ "$scheduler" = mes ] || fail "scheduler is $scheduler"
[ "$over" = - ] || fail "oversubscribed is $over"
[ "$(tr '\n' ' ' < "$W/sdma")" = "read 1 1 " ] || fail "SDMA: $(cat "$W/sdma")"
[ "$(tr '\n' ' ' < "$W/compute")" = "read 4 " ] || fail "compute: $(cat "$W/compute")"
wait_for 15 running "$p"
stop a
