# SPDX-License-Identifier: GPL-2.0-only
# CRIU with its plug-in for amdgpu, which pauses a process before it dumps it, beside a
# hold by a pause: the same ioctls, by peer. The end of its pause is the end of ours, and
# is seen: a holder pauses again. A driver that counts pauses keeps the process off the GPU
# for good, which resume reports.
# timeout: 150
# driver: any
. /t/peer.sh

step "a dump is going on: refused, nothing is changed"
peer_target a 1ms
peer_does seize interrupt info
grep '^devices' "$W/peer"
ctl 7 suspend "$p" --how pause
says_what_to_do "traced by process $peer \(peer\)"
expect_off "$p"
peer_does unpause detach
expect_free a
expect_progress a
[ -z "$(ls /run/gpreempt)" ] || fail "left behind: $(ls /run/gpreempt)"

if counts_pauses; then
	step "dump --leave-running during a hold: off the GPU for good, and its end is as ever"
	hold_by pause "$p"
	! has_debug_trap || says 'this driver counts pauses'
	[ "$(evictions "$p")" = 1 ] || fail "$(evictions "$p") evictions"
	peer_does seize interrupt info
	[ "$(evictions "$p")" = 2 ] || fail "$(evictions "$p") evictions"
	peer_does unpause detach
	expect_no_progress a
	sleep 2 # the holder has looked, and added no pause
	[ "$(evictions "$p")" = 1 ] || fail "$(evictions "$p") evictions"
	ctl 1 resume "$p"
	says_what_to_do "process $p is not paused any more, and 1 eviction is left"
	expect_no_progress a
	peer_target_killed
	exit 0
fi

ctl 0 doctor
says '^ok.pauses.'
step "dump --leave-running during a hold: the holder pauses it again"
hold_by pause "$p"
worker=$(holder_of "$p")
peer_does seize interrupt info
[ "$(evictions "$p")" = 1 ] || fail "$(evictions "$p") evictions"
peer_does unpause
wait_for 5 running "$p"
ctl 7 resume "$p"
says_what_to_do "traced by process $peer \(peer\)"
peer_does detach
wait_for 10 view_is "$p" active 0
expect_view "$p" evicted 1
expect_no_progress a
[ "$(holder_of "$p")" = "$worker" ] || fail "another holder"
let_go a

step "a dump that fails, or ends the process's pause only: once more, and by a lease"
hold_by pause "$p" --for 6s
peer_does seize interrupt info unpause detach
wait_for 10 view_is "$p" active 0
expect_free a
expect_progress a

step "a resume before the holder has looked: done, and no error"
hold_by pause "$p"
peer_does seize interrupt info unpause detach
let_go a

step "a dump that is killed during a hold: our resume ends both"
hold_by pause "$p"
peer_does seize interrupt info
peer_killed
expect_no_progress a
let_go a

step "a dump that was killed before: refused, and how to go on"
peer_start "$p"
peer_does seize interrupt info
peer_killed
ctl 7 suspend "$p" --how pause
says_what_to_do 'paused by another program'
ctl 0 resume --force "$p"
expect_free a
expect_progress a
[ -z "$(ls /run/gpreempt)" ] || fail "left behind: $(ls /run/gpreempt)"
stop a
