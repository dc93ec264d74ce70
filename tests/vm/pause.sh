# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# For tests of the library's pause without a command around it: gp-pause.
. /t/steps.sh

# gp STATUS ARGS...: gp-pause; its output is then in $W/gp.
gp() {
	_status=$1
	shift
	ends_with "$_status" 90 "$W/gp" gp-pause "$@"
}

# printed REGEX: the last gp-pause printed that.
printed() {
	grep -Eq -e "$1" "$W/gp" || fail "gp-pause did not print '$1'"
}

# cycles PID N: N pauses, or $PAUSES; the process is never stopped, nor traced afterwards.
cycles() {
	_n=${PAUSES:-$2}
	ends_with 0 $((90 + _n)) "$W/gp" gp-pause cycle "$1" "$_n"
	printed "cycles $_n samples [1-9][0-9]* stopped 0$"
}

# Off the GPU by the driver, and not by a debug session.
expect_paused() {
	expect_view "$1" evicted 1
	not_suspended "$1" || fail "$1 is suspended"
	expect_view "$1" active 0
}

# session_on_top PID: a debug session suspends what is paused, which suspend refuses; and
# end_session PID
session_on_top() {
	setsid gpreempt-ctl follow --how debug "$1" > "$W/on_top" 2>&1 &
	session=$!
	started="$started $session"
	wait_for 15 grep -q '^following' "$W/on_top"
	kill -STOP "$1"
}

end_session() {
	kill -CONT "$1"
	wait_for 15 grep -q '^resumed' "$W/on_top"
	kill -INT "$session"
	wait "$session" || fail "follow ended with $?: $(cat "$W/on_top")"
}
