# SPDX-License-Identifier: GPL-2.0-only
# A lease: the queues run again by themselves when it ends; a second suspend
# of a held target sets a new one.
# tier: gate
# timeout: 120
. /t/lib.sh

start a --queues 2 --packet 5ms
p=$(pid a)
hold "$p" --for $((3 * SLOW))s
ctl 0 status
expect_no_progress a
wait_for 30 running "$p"
expect_progress a
wait_for 15 nothing_held

step "set again"
hold "$p" --for $((2 * SLOW))s
ctl 0 suspend "$p" --for 5m
sleep $((3 * SLOW))
expect_suspended "$p"
release_target "$p"
stop a
