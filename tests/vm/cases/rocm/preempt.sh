# SPDX-License-Identifier: GPL-2.0-only
# 100 suspend and resume cycles of a ROCr program with all that it has: user
# queues, ROCr's utility queue, SDMA queues. Nothing lost, nothing twice, and
# what was copied is right.
# tier: gate
# timeout: 90
. /t/rocm.sh

hsa_start a 13 --queues 3 --packet 2ms --copy 262144
p=$(pid a)
wait_for 5 has_queues "$p" "4 compute-aql 2 sdma"
hold "$p"
says 'suspended [0-9]+: 6 queues'
expect_no_progress a
ctl 0 queues "$p"
release_target "$p"
expect_progress a
ctl 0 preempt "$p" --count 50 --hold 2ms --interval 5ms
says '^cycles 50 succeeded 50'
says '^verified yes 50'
expect_progress a
stop a
[ "$(result a copies)" -gt 0 ] || fail "no copies"
[ "$(result a differ)" = 0 ] || fail "copied data is wrong"
