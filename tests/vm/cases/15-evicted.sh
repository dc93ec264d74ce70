# SPDX-License-Identifier: GPL-2.0-only
# The driver evicts a process, as it does when memory gets short, and restores
# it by itself: the view tells that from a suspend, and nothing is lost.
# timeout: 40
. /t/lib.sh

start a --queues 2 --packet 1ms
p=$(pid a)
wait_for 2 running "$p"
echo "$p" > "$VGPU/evict" || fail "cannot evict"
wait_for 2 view_is "$p" evicted 1
expect_view "$p" suspended 0
expect_view "$p" active 0
wait_for 5 running "$p"
expect_view "$p" evicted 0
expect_progress a

step "evicted while suspended: it stays off when the driver restores it"
hold "$p"
echo "$p" > "$VGPU/evict" || fail "cannot evict"
wait_for 2 view_is "$p" evicted 1
wait_for 5 view_is "$p" evicted 0
expect_suspended "$p"
expect_no_progress a
let_go "$p"
stop a
