# SPDX-License-Identifier: GPL-2.0-only
# preempt --how pause: measured as a suspend, no packet lost, and nothing is left paused
# however the command ends.
# timeout: 150
# driver: any
. /t/steps.sh

json() {
	json-value "$W/ctl" "$@"
}

expect_runs() {
	wait_for 15 running "$1"
	wait_for 15 nothing_held
	ctl 0 repair
	says 'nothing is paused'
}

# In the middle of a hold.
preempt_begin() {
	setsid gpreempt-ctl preempt "$p" --how pause --count 2 --hold 100s > "$W/preempt" 2>&1 &
	c=$!
	started="$started $c"
	wait_for 15 view_is "$p" evicted 1
}

start a --queues 2 --packet 1ms
p=$(pid a)

step "twenty cycles"
ctl 0 preempt "$p" --how pause --count 20 --hold 5ms --interval 5ms --json
says '"how": "pause"'
[ "$(json cycles)" = 20 ] && [ "$(json succeeded)" = 20 ] || fail "not 20 cycles"
[ "$(json verified yes)" = 20 ] || fail "not verified 20 times"
[ "$(json suspend_slots_us n)" = 19 ] || fail "the slots were not seen"
expect_runs "$p"
expect_progress a

step "while it holds: status names preempt, and resume is refused"
preempt_begin
not_suspended "$p" || fail "it is suspended"
expect_no_progress a
ctl 0 status
says "^${p}[[:space:]].*preempt"
ctl 7 resume "$p"
expect_view "$p" evicted 1

step "Ctrl-C"
kill -INT $c
wait $c
[ $? -eq 1 ] || fail "it ended with another status"
grep -q 'interrupted in cycle 1' "$W/preempt" || fail "not said"
expect_runs "$p"

step "it is killed: its guardian undoes it"
preempt_begin
kill -KILL $c
expect_runs "$p"
expect_progress a

step "the target ends"
preempt_begin
kill -KILL "$p"
wait $c
[ $? -eq 5 ] || fail "it ended with another status"
wait_for 15 nothing_held
ctl 0 repair
says 'nothing is paused'

has_debug_trap || exit 0
step "one that has no runtime: auto pauses that one alone"
start b --queues 1 --packet 1ms
start c --queues 1 --packet 1ms --no-runtime
ctl 3 preempt "$(pid b)" "$(pid c)" --how debug --count 3 --hold 5ms --interval 5ms
says_what_to_do 'runtime'
ctl 0 preempt "$(pid b)" "$(pid c)" --count 3 --hold 5ms --interval 5ms
says "^note: process $(pid c) .*runtime; so it is paused"
says "^how $(pid b) debug"
says "^how $(pid c) pause"
says '^cycles 3 succeeded 3'
expect_runs "$(pid c)"
stop b
stop c
