# SPDX-License-Identifier: GPL-2.0-only
# guard and follow by a pause, and another program ends it, as criu dump --leave-running
# does: they report it, and pause the process again. A driver that counts pauses keeps the
# process off the GPU for good: that they report, too, and add no pause.
# timeout: 120
. /t/peer.sh
. /t/guard.sh

guard_it() {
	guard --online "$(pid on)" --offline "$p" --how pause --max-hold 60s --verbose
}

follow_it() {
	: > "$W/guard"
	gpreempt-ctl follow "$p" --how pause > "$W/guard" 2>&1 &
	g=$!
	started="$started $g"
	wait_for 20 said "^following $p"
	kill -STOP "$p"
}

# unpaused TEXT: it is paused, the other program ends that, and TEXT is reported
unpaused() {
	wait_for 30 view_is "$p" evicted 1
	peer_does seize interrupt info unpause detach
	wait_for 10 said "$1"
}

# off_for_good: with one eviction, none of which is ours; it is reported at the end
off_for_good() {
	[ "$(evictions "$p")" = 1 ] || fail "$(evictions "$p") evictions"
	end_guard 1
	says_guard "process $p is not paused any more, and 1 eviction is left"
	kill -CONT "$p"
	expect_no_progress a
	peer_target_killed
}

start on --packet 20ms
peer_target a 5ms
if counts_pauses; then
	step "guard, of a driver that counts"
	guard_it
	unpaused "another program paused process $p, too, and this driver counts"
	off_for_good
	peer_target a 5ms

	step "follow, of a driver that counts"
	follow_it
	unpaused "process $p is not paused any more, and 1 eviction is left"
	off_for_good
	stop on
	exit 0
fi

step "guard"
guard_it
unpaused "another program let process $p run"
wait_for 10 view_is "$p" evicted 1
expect_no_progress a
end_guard
expect_free a
expect_progress a

step "follow"
follow_it
unpaused "process $p: another program ended our pause"
wait_for 10 view_is "$p" evicted 1
expect_view "$p" active 0
kill -CONT "$p"
wait_for 20 running "$p"
expect_progress a
end_guard
expect_free a
stop a
stop on
