# SPDX-License-Identifier: GPL-2.0-only
# The module tells a pause from an eviction by the driver itself, and from the
# other processes.
# timeout: 60
# driver: any
. /t/pause.sh

# paused PID: that column of the file processes
paused() {
	awk -v pid="$1" 'NR == 2 { for (i = 2; i <= NF; i++) if ($i == "paused") c = i - 1 }
		NR > 2 && $1 == pid { print $c }' "$DEBUGFS/gpreempt/processes"
}

paused_is() {
	[ "$(paused "$1")" = "$2" ] || fail "processes: paused of $1 is $(paused "$1"), not $2"
}

start a --queues 2 --packet 1ms
start b --queues 1 --packet 1ms
p=$(pid a)
wait_for 15 running "$p"
grep -qx 'feature_pause on' "$DEBUGFS/gpreempt/version" || fail "no such feature"
paused_is "$p" 0

step "paused"
gp 0 pause "$p"
expect_view "$p" state evicted,paused
paused_is "$p" 1
paused_is "$(pid b)" 0

if has_debug_trap; then
	step "paused, and suspended by a debug session"
	session_on_top "$p"
	wait_for 15 view_is "$p" state suspended,evicted,paused
	end_session "$p"
	wait_for 15 view_is "$p" state evicted,paused
fi
gp 0 unpause "$p"
wait_for 15 running "$p"
paused_is "$p" 0

step "evicted by the driver: not paused"
echo 1 > "$VGPU/short_of_memory"
echo "$p" > "$VGPU/evict" || fail "cannot evict"
wait_for 15 view_is "$p" state evicted
paused_is "$p" 0

step "both: the unpause undoes the pause alone"
gp 0 pause "$p"
expect_view "$p" state evicted,paused
gp 0 unpause "$p"
expect_view "$p" state evicted
echo 0 > "$VGPU/short_of_memory"
wait_for 15 running "$p"
expect_progress a
stop a
stop b
