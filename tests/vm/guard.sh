# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# What the tests of guard share, besides lib.sh.

# guard ARGS...: sets $g, its PID; what it says is in $W/guard.
guard() {
	: > "$W/guard"
	setsid gpreempt-ctl guard "$@" > "$W/guard" 2>&1 &
	g=$!
	started="$started $g"
}

said() {
	grep -Eq -e "$1" "$W/guard"
}

says_guard() {
	said "$1" || fail "guard did not say '$1'"
}

# said_times REGEX: how often it printed that
said_times() {
	grep -Ec -e "$1" "$W/guard"
}

more_times() {
	[ "$(said_times "$1")" -ge "$2" ]
}

# all_known N: are so many offline processes known? By --json.
all_known() { [ "$(said_times '"process [0-9]+ is offline"')" -ge "$1" ]; }

# end_guard [STATUS]
end_guard() {
	_status=0
	kill -TERM "$g"
	wait "$g" || _status=$?
	[ $_status -eq "${1:-0}" ] || fail "guard ended with $_status: $(cat "$W/guard")"
}

# field NAME KEY: of a line of figures such as "name n=1 p50=2", without what is
# behind the point
field() {
	awk -v name="$1" -v key="$2" '$1 == name { for (i = 2; i <= NF; i++)
		if (split($i, w, "=") == 2 && w[1] == key) v = w[2] }
		END { sub(/\..*/, "", v); print v }' "$W/guard"
}
