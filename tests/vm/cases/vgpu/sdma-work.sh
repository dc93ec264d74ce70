# SPDX-License-Identifier: GPL-2.0-only
# SDMA queues at work beside a compute queue: each packet once, in order, also
# over a suspend.
# timeout: 90
# driver: any
. /t/lib.sh

start a --queues 1 --sdma 2 --sdma-work --packet 1ms --per-queue
p=$(pid a)
next_lines a 2
for q in 0 1 2; do
	[ "$(queue_count a $q)" -gt 0 ] || fail "queue $q does nothing"
done
hold "$p"
expect_no_progress a
release_target "$p"
s=$(queue_count a 1)
next_lines a 3
[ "$(queue_count a 1)" -gt "$s" ] || fail "the SDMA queue does not go on"
stop a
