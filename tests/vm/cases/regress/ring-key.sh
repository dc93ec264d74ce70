# SPDX-License-Identifier: GPL-2.0-only
# A slot with a queue's MQD and doorbell but another ring is not the queue's, also
# where the driver has no cheap test for rings: KFD gives the next process the
# same MQD addresses.
# gpreempt: no
# timeout: 90
# driver: any
. /t/lib.sh

T=$DEBUGFS/gpreempt
btf-doctor graft /lib/modules/gpreempt.ko kfd2kgd_calls hqd_is_occupied hqd_is_occupied u32 ||
	fail "it does not load"
grep -qx "feature_occupied off:kfd2kgd_calls.hqd_is_occupied:type" "$T/version" ||
	fail "$(grep occupied "$T/version")"
start a --queues 2 --packet 1ms
p=$(pid a)
wait_for 15 running "$p"
switch 0 other_ring 1
expect_view "$p" hardware read
expect_view "$p" active 0
switch 0 other_ring 0
wait_for 15 running "$p"
stop a
