# SPDX-License-Identifier: GPL-2.0-only
# A worker of guard that is stopped, while guard is stopped too and cannot see
# it: the kernel ends the worker, so that its target runs and can be killed.
# timeout: 90
. /t/lib.sh

start on --queues 1 --packet 5ms
start off --queues 2 --packet 1ms
p=$(pid off)

guard() {
	gpreempt-ctl guard --max-hold 60s --online "$(pid on)" --offline "$p" \
		> "$W/guard" 2>&1 &
	g=$!
	started="$started $g"
	wait_for 20 view_is "$p" suspended 1
	worker=$(holder_of "$p")
	[ "$worker" != "$g" ] || fail "guard has it itself"
	kill -STOP "$worker" "$g"
}

step "its queues run again, and guard did nothing for that"
guard
wait_for 10 running "$p"
alive "$g" || fail "guard was ended first"
expect_progress off
kill -KILL "$g"
wait "$g"
wait_for 15 nothing_held

step "kill -9 of the target works"
guard
kill -KILL "$p"
wait_for 10 gone "$p"
alive "$g" || fail "guard was ended first"
kill -KILL "$g"
wait "$g"
stop on
