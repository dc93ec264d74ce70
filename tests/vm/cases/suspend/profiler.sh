# SPDX-License-Identifier: GPL-2.0-only
# A profiler that attaches by ptrace, as rocprofv3 --attach does, beside a hold by a debug
# session: before it, during it and after it.
# timeout: 90
. /t/peer.sh

start a --queues 2 --packet 1ms
p=$(pid a)

step "it is attached: refused, nothing is changed; also while the process is stopped by it"
peer_start "$p"
peer_does seize
ctl 7 suspend "$p" --how debug
says_what_to_do "traced by process $peer \(peer\)"
peer_does interrupt
ctl 7 suspend "$p" --how debug
says_what_to_do "traced by process $peer \(peer\)"
peer_does cont
expect_progress a
peer_does detach
expect_free a

step "during a hold: it cannot attach, however often, and the hold stays"
hold_by debug "$p"
worker=$(holder_of "$p")
for _ in 1 2 3; do
	peer_cannot seize 'not permitted'
done
expect_no_progress a
[ "$(holder_of "$p")" = "$worker" ] || fail "another holder"
let_go a
peer_does seize detach
expect_free a

step "it waits for the end of a lease: the hold ends in time, and it attaches"
hold_by debug "$p" --for 2s
until asked seize && [ "$answer" = "done seize" ]; do
	sleep 0.2
done
wait_for 15 running "$p"
wait_for 15 nothing_held
expect_progress a

step "it is killed: nothing is left of it"
peer_killed
expect_free a
hold_by debug "$p"
let_go a
stop a
