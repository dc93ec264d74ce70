# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# What the tests of gpreempt-load share, whose kernel is the witness of user/trial.
. /t/lib.sh

# ends STATUS ARGS...: of a gpreempt-load with these. What it said is in $W/load.
ends() {
	_want=$1
	shift
	timeout 30 gpreempt-load "$@" > "$W/load" 2> "$W/err"
	_got=$?
	[ $_got -eq "$_want" ] || fail "gpreempt-load $* ended with $_got: $(cat "$W/load" "$W/err")"
}

# said REGEX: it did.
said() {
	grep -Eq "$1" "$W/load" || fail "no '$1': $(cat "$W/load")"
}

# One that goes on, as $load.
load() {
	rm -f "$W/load"
	gpreempt-load "$@" > "$W/load" 2>&1 &
	load=$!
	started="$started $load"
	wait_for 20 grep -q '"state":"ready"' "$W/load"
}

# load_ends STATUS: it gets SIGTERM, and ends so.
load_ends() {
	kill -TERM $load
	wait $load
	_got=$?
	[ $_got -eq "$1" ] || fail "ended with $_got: $(cat "$W/load")"
}

# Only where shader code is executed.
needs_engine() {
	[ "$(cat $VGPU/engine)" = 1 ] || skip "nothing executes shader code here"
}
