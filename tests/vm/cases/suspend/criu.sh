# SPDX-License-Identifier: GPL-2.0-only
# CRIU with its plug-in for amdgpu, which pauses a process before it dumps it, beside a
# hold by a debug session: the same ioctls, by peer.
# timeout: 90
. /t/peer.sh

start a --queues 2 --packet 1ms
p=$(pid a)

step "a dump is going on: refused, nothing is changed"
peer_start "$p"
peer_does seize interrupt info
grep '^devices' "$W/peer"
ctl 7 suspend "$p" --how debug
says_what_to_do "traced by process $peer \(peer\)"
expect_off "$p"
peer_does unpause detach
expect_free a
expect_progress a

step "during a hold: it can neither trace nor pause the process, and the hold stays"
hold_by debug "$p"
peer_cannot seize 'not permitted'
peer_cannot info .
peer_cannot unpause .
expect_view "$p" evicted 0
expect_no_progress a
let_go a

step "a dump that was killed leaves the process paused: refused, and how to go on"
peer_does seize interrupt info
peer_killed
expect_no_progress a
for how in debug pause auto; do
	ctl 7 suspend "$p" --how $how
	says_what_to_do 'paused by another program'
	says 'resume --force'
done
ctl 7 resume "$p"
says_what_to_do 'resume --force'
ctl 0 resume --force "$p"
expect_free a
expect_progress a
hold_by debug "$p"
let_go a
stop a
