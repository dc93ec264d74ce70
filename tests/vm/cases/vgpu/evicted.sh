# SPDX-License-Identifier: GPL-2.0-only
# The driver evicts a process, as it does when memory gets short, and restores
# it by itself: the view tells that from a suspend, and nothing is lost.
# tier: gate
# timeout: 90
. /t/lib.sh

# evict PID SUSPENDED: the view says "evicted" with no slot held, for as long as the
# driver can't restore it.
evict() {
	echo 1 > "$VGPU/short_of_memory"
	echo "$1" > "$VGPU/evict" || fail "cannot evict"
	wait_for 15 view_is "$1" evicted 1
	expect_view "$1" suspended "$2"
	expect_view "$1" active 0
	echo 0 > "$VGPU/short_of_memory"
}

start a --queues 2 --packet 5ms
p=$(pid a)
wait_for 15 running "$p"
evict "$p" 0
wait_for 15 running "$p"
expect_view "$p" evicted 0
expect_progress a

step "evicted while suspended: it stays off when the driver restores it"
hold "$p"
evict "$p" 1
wait_for 15 view_is "$p" evicted 0
expect_suspended "$p"
expect_no_progress a
release_target "$p"

step "suspend, resume and doctor report that it does not run"
note="the driver has evicted process $p"
echo 1 > "$VGPU/short_of_memory"
echo "$p" > "$VGPU/evict"
wait_for 15 view_is "$p" evicted 1
gpreempt-ctl doctor "$p" > "$W/ctl"
says "evicted.*$note"
if has_debug_trap; then
	ctl 0 suspend "$p"
	says "^note: $note"
	ctl 0 resume "$p"
	says "^note: $note"
fi
echo 0 > "$VGPU/short_of_memory"
wait_for 15 running "$p"
stop a
