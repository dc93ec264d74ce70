# SPDX-License-Identifier: GPL-2.0-only
# A profiler that attaches by ptrace, as rocprofv3 --attach does, beside a hold by a pause:
# it can attach, and while it is attached the pause can neither be made nor ended. The end
# of the hold comes with its end.
# timeout: 120
# driver: any
. /t/peer.sh

start a --queues 2 --packet 1ms
p=$(pid a)
entry=/run/gpreempt/$p.pause

step "it is attached: refused, nothing is changed; also while the process is stopped by it"
peer_start "$p"
peer_does seize
ctl 7 suspend "$p" --how pause
says_what_to_do "traced by process $peer \(peer\)"
peer_does interrupt
ctl 7 suspend "$p" --how pause
says_what_to_do "traced by process $peer \(peer\)"
peer_does cont
expect_progress a
[ ! -e "$entry" ] || fail "it is in the journal"
peer_does detach

step "during a hold: it attaches, stops the process and lets it go on; the hold stays"
hold_by pause "$p"
peer_does seize interrupt cont
expect_no_progress a
ctl 0 status
says "^${p}[[:space:]]"
step "a resume is refused, and the hold stays"
ctl 7 resume "$p"
says_what_to_do "traced by process $peer \(peer\)"
says 'next: end that debugger'
expect_off "$p"
[ -e "$entry" ] || fail "the entry is gone"
peer_does detach
expect_no_progress a
let_go a

step "a lease ends while it is attached: the queues run once it has detached"
hold_by pause "$p" --for 1s
peer_does seize
sleep 3
expect_off "$p"
ctl 0 status
says "^${p}[[:space:]]"
peer_does detach
expect_free a
expect_progress a

step "the holder is killed meanwhile, too; the profiler is killed"
hold_by pause "$p"
peer_does seize
kill -9 "$(holder_of "$p")"
sleep 1
expect_off "$p"
peer_killed
expect_free a
expect_progress a

[ -z "$(ls /run/gpreempt)" ] || fail "left behind: $(ls /run/gpreempt)"
stop a
