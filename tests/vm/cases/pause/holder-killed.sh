# SPDX-License-Identifier: GPL-2.0-only
# The holder of a pause: when its worker or its guardian is killed or stopped the other
# undoes the pause; when both are killed, repair does, or the next command.
# race: worker and guardian watch each other
# timeout: 150
# driver: any
. /t/steps.sh

start a --queues 2 --packet 1ms
p=$(pid a)

held() {
	ctl 0 suspend "$p" --how pause
	expect_view "$p" evicted 1
	first=$(holder_of "$p") second=$(guardian_of "$p")
}

expect_unpaused() {
	wait_for 15 running "$p"
	wait_for 15 gone "$first"
	wait_for 15 gone "$second"
	wait_for 15 nothing_held
	expect_progress a
}

for signal in KILL STOP; do
	step "SIG$signal to the worker"
	held
	kill -$signal "$first"
	expect_unpaused
	step "SIG$signal to the guardian"
	held
	kill -$signal "$second"
	expect_unpaused
done

both() {
	leave_paused "$p"
	expect_no_progress a
}

step "both at once: it stays paused, and that is shown"
both
ctl 0 status
says "process $p was left paused .*gpreempt-ctl repair"
ctl 0 doctor
says "process $p was left paused by gpreempt-hold .*gpreempt-ctl repair"
ctl 0 repair --dry-run
says "^${p}[[:space:]]+waits[[:space:]]+nothing"
expect_no_progress a
ctl 0 repair --json
says '"found": "waits"'
says '"done": "unpaused"'
expect_unpaused
ctl 0 repair
says 'nothing is paused'

step "the next command that may write repairs it, too"
both
start b --packet 1ms
ctl 0 suspend "$(pid b)"
says "note: process $p was left paused by gpreempt-hold .*run again"
ctl 0 resume "$(pid b)"
expect_unpaused
stop b

step "resume does"
both
ctl 0 resume "$p"
says "^resumed $p: 2 queues"
expect_unpaused
[ -z "$(ls /run/gpreempt)" ] || fail "left behind: $(ls /run/gpreempt)"
stop a
