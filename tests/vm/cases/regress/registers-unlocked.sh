# SPDX-License-Identifier: GPL-2.0-only
# KFD's table of processes is not held while registers are read: the end of every
# GPU process waits for those who hold it. By the module's own counters: the time
# with the table is less than that with the registers, which it contained.
# tier: gate
# vgpu: gpus=1 xccs=8
# timeout: 90
. /t/lib.sh

stat_of() {
	awk -v key="$1" '$1 == key { print $2; seen = 1 }
		END { if (!seen) print "no figure", key }' "$DEBUGFS/gpreempt/stats"
}

start a --queues 16 --packet 1ms --rate 20
p=$(pid a)
wait_for 15 running "$p"
hold "$p"
table=$(stat_of table_ns) registers=$(stat_of reset_ns) process=$(stat_of process_ns)
taken=$(stat_of process_taken)
for _ in 1 2 3 4 5; do
	cat "$VIEW/$p/queues" > /dev/null
done
table=$(($(stat_of table_ns) - table))
registers=$(($(stat_of reset_ns) - registers))
process=$(($(stat_of process_ns) - process))
taken=$(($(stat_of process_taken) - taken))
echo "5 reads: $table ns with the table, $registers ns with registers," \
	"$process ns with the process in $taken times"
[ "$registers" -gt 0 ] || fail "no register was read"
[ "$table" -gt 0 ] && [ "$table" -lt "$registers" ] || fail "the table is held while registers are read"
release_target "$p"
stop a
