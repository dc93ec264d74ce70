# SPDX-License-Identifier: GPL-2.0-only
# Four ROCr programs with more queues than slots: 28 of their own and 4 of
# ROCr's on 24 slots. One suspended, the others carry on, all exact.
# memory: 1536
# timeout: 90
# driver: any
. /t/rocm.sh

for label in a b c d; do
	hsa_start $label 13 --queues 7 --packet 2ms --depth 4 --report 100ms
done
total=0
for label in a b c d; do
	total=$((total + $(view "$(pid $label)" qid | wc -l)))
done
[ $total -gt 24 ] || fail "only $total queues"
rotations=$(counter 0 rotations)
[ "$rotations" -gt 0 ] || fail "nothing took turns"
hold "$(pid b)"
expect_no_progress b
for label in a c d; do
	expect_progress $label
done
ctl 0 resume "$(pid b)"
expect_progress b
ctl 0 preempt "$(pid c)" --count 10 --hold 5ms --interval 5ms
says '^cycles 10 succeeded 10'
for label in a b c d; do
	stop $label
done
wait_for 3 no_kfd_process
