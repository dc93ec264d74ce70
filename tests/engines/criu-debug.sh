# SPDX-License-Identifier: GPL-2.0-only
# Debian's CRIU beside a hold by a debug session. It has no plug-in for amdgpu: what a dump
# of a GPU process says is shown first.
# timeout: 200
. /t/lib.sh
. /t/engines.sh
. /t/debuggers.sh

start a --queues 2 --packet 1ms
p=$(pid a)

step "without a hold: the dump fails, and the process runs on"
criu_fails "$p" 'handle_device_vma plugin failed'
wait_for 15 not_traced "$p"
expect_progress a

step "CRIU is at work: refused, nothing is changed"
criu_stopped "$p"
ctl 7 suspend "$p" --how debug
says_what_to_do "traced by process $criu \(criu\)"
criu_goes_on
wait_for 15 not_traced "$p"
expect_progress a

step "during a hold: CRIU cannot trace it, and the hold stays"
ctl 0 suspend "$p" --how debug
criu_fails "$p" 'Operation not permitted'
expect_no_progress a
ctl 0 resume "$p"
wait_for 15 running "$p"
nothing_left
stop a
