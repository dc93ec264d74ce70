# SPDX-License-Identifier: GPL-2.0-only
# A process killed in the middle of its work leaves a GPU that works.
# race: the driver clears up while the GPU works
# tier: gate
# timeout: 90
# driver: any
. /t/lib.sh

start a --queues 6 --packet 5ms
kill -9 "$(pid a)"
wait_for 15 not_in_view "$(pid a)"
wait_for 15 no_kfd_process

step "left without destroying its queues"
start b --queues 3 --packet 1ms --count 100 --leave
wait "$(pid b)" || fail "vgpu-load --leave ended with $?"
wait_for 15 not_in_view "$(pid b)"

start c --queues 6 --packet 200us --count 200
expect_good_end c
