# SPDX-License-Identifier: GPL-2.0-only
# Packets of several queues complete exactly once and in order, to the packet.
# race: a program and the GPU share rings
# tier: gate
# timeout: 90
# driver: any
. /t/lib.sh

step "a given number, flat out"
start a --queues 4 --packet 200us --count 500
expect_good_end a
[ "$(result a completed)" -eq 2000 ] || fail "not 2000 packets"

step "a ring that wraps many times"
start b --queues 2 --packet 50us --ring 64 --count 2000
expect_good_end b
[ "$(result b completed)" -eq 4000 ] || fail "not 4000 packets"

step "barrier-AND packets in between"
start c --queues 2 --packet 200us --barrier 3 --count 400
expect_good_end c

step "at a rate"
start d --packet 100us --rate 200 --duration 2s
expect_good_end d
between "$(result d completed)" 200 410 "200 packets a second for 2 s"

wait_for 15 no_kfd_process
