# SPDX-License-Identifier: GPL-2.0-only
# Debian 12's ROCr, which knows no XCCs: packets exactly once, copies right,
# waits by interrupt and by polling, its queues in view. It does not enable the
# KFD runtime: the debug ioctl refuses it and the error says why; suspend pauses it.
# tier: gate
# vgpu: gpus=1 xccs=1
. /t/rocm.sh

step "by interrupt"
hsa_start a 12 --queues 2 --packet 1ms --copy 65536
wait_for 5 has_queues "$(pid a)" "3 compute-aql 2 sdma"
wait_for 5 running "$(pid a)"
ctl 3 suspend "$(pid a)" --how debug
says_what_to_do 'runtime'
expect_progress a
ctl 0 suspend "$(pid a)"
says "^note: process $(pid a) .*runtime; so it is paused"
says "^paused $(pid a): "
expect_no_progress a
ctl 0 resume "$(pid a)"
expect_progress a
stop a
[ "$(result a copies)" -gt 0 ] || fail "no copies"

step "by polling"
hsa_start b 12 --queues 2 --packet 200us --poll --count 1000
expect_good_end b
