# SPDX-License-Identifier: GPL-2.0-only
# guard and follow by a pause, and another program ends it, as criu dump --leave-running
# does: they report it, and pause the process again. A driver that counts pauses keeps the
# process off the GPU for good: that they report, too, and add no pause.
# timeout: 120
. /t/peer.sh
. /t/guard.sh

start on --packet 20ms
start a --queues 2 --packet 5ms
p=$(pid a)
peer_start "$p"

if counts_pauses; then
	step "guard, of a driver that counts"
	guard --online "$(pid on)" --offline "$p" --how pause --max-hold 60s --verbose
	wait_for 30 view_is "$p" evicted 1
	peer_does seize interrupt info unpause detach
	wait_for 10 said "another program paused process $p, too, and this driver counts"
	[ "$(evictions "$p")" = 1 ] || fail "$(evictions "$p") evictions"
	end_guard
	expect_no_progress a
	kill -9 "$p"
	wait "$p"
	kill -9 "$peer"
	wait_for 15 nothing_held
	start a --queues 2 --packet 5ms
	p=$(pid a)
	peer_start "$p"

	step "follow, of a driver that counts"
	gpreempt-ctl follow "$p" --how pause > "$W/guard" 2>&1 &
	f=$!
	started="$started $f"
	wait_for 20 said "^following $p"
	kill -STOP "$p"
	wait_for 20 view_is "$p" evicted 1
	peer_does seize interrupt info unpause detach
	wait_for 10 said "process $p is not paused any more, and 1 eviction is left"
	[ "$(evictions "$p")" = 1 ] || fail "$(evictions "$p") evictions"
	kill -9 "$p"
	wait_for 15 nothing_held
	wait "$f"
	stop on
	exit 0
fi

step "guard"
guard --online "$(pid on)" --offline "$p" --how pause --max-hold 60s --verbose
wait_for 30 view_is "$p" evicted 1
peer_does seize interrupt info unpause detach
wait_for 10 said "another program let process $p run"
wait_for 10 view_is "$p" evicted 1
expect_no_progress a
end_guard
expect_free a
expect_progress a

step "follow"
: > "$W/guard"
gpreempt-ctl follow "$p" --how pause > "$W/guard" 2>&1 &
f=$!
started="$started $f"
wait_for 20 said "^following $p"
kill -STOP "$p"
wait_for 20 view_is "$p" evicted 1
peer_does seize interrupt info unpause detach
wait_for 10 said "process $p: another program ended our pause"
wait_for 10 view_is "$p" evicted 1
expect_view "$p" active 0
kill -CONT "$p"
wait_for 20 running "$p"
expect_progress a
kill -INT $f
wait $f || fail "follow ended with $?"
expect_free a
stop a
stop on
