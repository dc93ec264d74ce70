# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# For tests of processes that make and destroy queues to run while they are held.
. /t/lib.sh

# churn_start LABEL OPTIONS...: a process with a queue that has work all the time.
# $p: its PID.
churn_start() {
	start "$@" --packet 1ms
	p=$(pid "$1")
	expect_progress "$1"
}

# churn_hold: $p is held. In that moment it may be destroying a queue: status 6.
churn_hold() {
	timeout $((60 * PACE)) gpreempt-ctl suspend "$p" > "$W/ctl" 2>&1
	_got=$?
	head -n 2 "$W/ctl"
	[ $_got -eq 0 ] || [ $_got -eq 6 ] || fail "suspend ended with $_got"
	wait_for 15 view_is "$p" suspended 1 0
}

# churn_ran SECONDS LIMIT: from now on the GPU works for $p at most LIMIT ms in this
# time. $ran: how long it did.
churn_ran() {
	_from=$(busy_ms 0 "$p")
	_t0=$(uptime_cs)
	sleep "$1"
	ran=$(($(busy_ms 0 "$p") - _from))
	echo "ran $ran ms of $(($(uptime_cs) - _t0))0 ms"
	[ "$ran" -le "$2" ] || fail "it ran $ran ms, more than $2 ms"
}

churn_end() {
	kill -9 "$(pid "$1")"
	wait "$(pid "$1")"
	wait_for 15 nothing_held
}
