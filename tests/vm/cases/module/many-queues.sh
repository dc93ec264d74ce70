# SPDX-License-Identifier: GPL-2.0-only
# A process with 48 queues: its mutex is held for four of them at a time, below 100 us in
# the mean. The longest hold is printed: an interrupt can come in one. (With 1,024 queues
# the pieces are as long: make check-snapshot.)
# vgpu: gpus=1 xccs=1
# memory: 1024
# timeout: 120
. /t/lib.sh

stat_of() { awk -v key="$1" '$1 == key { print $2 }' "$DEBUGFS/gpreempt/stats"; }

start a --queues 48 --rate 1
p=$(pid a)
wait_for 60 in_view "$p"
taken=$(stat_of process_taken) held=$(stat_of process_ns)
for i in 1 2 3; do
	[ "$(awk 'NR > 2' "$VIEW/$p/queues" | wc -l)" -eq 48 ] || fail "not 48 queues"
	[ "$(awk 'NR > 2 { print $1 }' "$VIEW/$p/queues" | sort -nu | wc -l)" -eq 48 ] ||
		fail "a queue twice"
done
taken=$(($(stat_of process_taken) - taken)) held=$(($(stat_of process_ns) - held))
echo "$taken holds, $((held / taken)) ns each, the longest $(stat_of process_max_ns) ns"
# Six reads of 12 pieces, and what the module reads ahead.
[ "$taken" -ge 72 ] || fail "only $taken holds"
between $((held / taken)) 1 100000 "hold in ns"
stop a
