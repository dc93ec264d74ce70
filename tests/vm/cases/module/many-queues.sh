# SPDX-License-Identifier: GPL-2.0-only
# A process with 48 queues: its mutex is held in pieces, none of them above 100 us. (With
# 1,024 queues the pieces are as long: make check-snapshot.)
# vgpu: gpus=1 xccs=1
# memory: 1024
# timeout: 120
. /t/lib.sh

stat_of() { awk -v key="$1" '$1 == key { print $2 }' "$DEBUGFS/gpreempt/stats"; }

start a --queues 48 --rate 1
p=$(pid a)
wait_for 60 in_view "$p"
for i in 1 2 3; do
	[ "$(awk 'NR > 2' "$VIEW/$p/queues" | wc -l)" -eq 48 ] || fail "not 48 queues"
	[ "$(awk 'NR > 2 { print $1 }' "$VIEW/$p/queues" | sort -nu | wc -l)" -eq 48 ] ||
		fail "a queue twice"
done
echo "longest hold of the mutex: $(stat_of process_max_ns) ns"
between "$(stat_of process_max_ns)" 1 100000 "longest hold in ns"
stop a
