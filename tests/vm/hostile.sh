# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# A tenant that makes those wait who act on it, by a file that does not answer.
. /t/lib.sh

# Its server, which root kills at the end: then all that waits goes on.
silent_files() {
	mkdir -p "$W/silent"
	file=$W/silent/file
	: > "$W/server"
	silent-files "$W/silent" >> "$W/server" 2>&1 &
	server=$!
	started="$started $server"
	wait_for 5 grep -q ready "$W/server"
}

silent_again() {
	: > "$W/server"
	kill -USR2 "$server"
	wait_for 5 grep -q silent "$W/server"
}

answers() {
	kill -USR1 "$server"
	wait_for 5 grep -q answers "$W/server"
}

# attack LABEL: it waits for the file then, and so does each process that waits for it.
attack() {
	kill -HUP "$(pid "$1")"
	wait_for 5 grep -q 'waits read' "$W/server"
}

# attacked HOW: a process that waits for the file, and one beside it. $p: its PID.
attacked() {
	silent_files
	start other --packet 1ms
	start a --queues 2 --packet 1ms --attack "$1=$file"
	p=$(pid a)
	attack a
}

# stuck WHY ARGS...: in time, with its reason, and nothing is noted of it.
stuck() {
	_why=$1
	shift
	ls /run/gpreempt 2> /dev/null > "$W/noted"
	ctl 7 "$@"
	says_what_to_do "cannot be traced now: $_why"
	ls /run/gpreempt 2> /dev/null | cmp -s - "$W/noted" || fail "left behind: $(ls /run/gpreempt)"
}

# others_go_on LABEL: what is held, resumed and repaired does not wait for the hostile one.
others_go_on() {
	hold "$(pid "$1")"
	release_target "$(pid "$1")"
	ctl 0 suspend "$(pid "$1")" --how pause
	ctl 0 resume "$(pid "$1")"
	ctl 0 repair
	expect_progress "$1"
}

# No process of ours is left, also none that waits.
nothing_of_ours() {
	! ps | grep -q '[g]preempt'
}
