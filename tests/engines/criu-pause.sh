# SPDX-License-Identifier: GPL-2.0-only
# Debian's CRIU, which has no plug-in for amdgpu, beside a hold by a pause: a dump fails as
# it does without a hold, and the process stays off the GPU.
# timeout: 200
. /t/lib.sh
. /t/engines.sh
. /t/debuggers.sh

start a --queues 2 --packet 1ms
p=$(pid a)

step "CRIU is at work: refused, nothing is changed"
criu_stopped "$p"
ctl 7 suspend "$p" --how pause
says_what_to_do "traced by process $criu \(criu\)"
criu_goes_on
wait_for 15 not_traced "$p"
expect_progress a

step "during a hold: the dump fails, the hold stays, and a resume ends it"
ctl 0 suspend "$p" --how pause
criu_fails "$p" 'handle_device_vma plugin failed'
wait_for 15 not_traced "$p"
expect_no_progress a
criu_stopped "$p"
ctl 7 resume "$p"
says_what_to_do "traced by process $criu \(criu\)"
criu_goes_on
wait_for 15 not_traced "$p"
expect_no_progress a
ctl 0 resume "$p"
wait_for 15 running "$p"

step "the lease ends while CRIU is at work: the queues run when it is done"
ctl 0 suspend "$p" --how pause --for 2s
criu_stopped "$p"
sleep 3
off "$p" || fail "the hold is over"
criu_goes_on
wait_for 15 running "$p"
expect_progress a
nothing_left
stop a
