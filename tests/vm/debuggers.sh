# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# gdb and CRIU, for cases with real engines.

# gdb_start PID: it has attached, and stops it; $gdb is its PID
gdb_start() {
	rm -f "$W/gdb.in"
	mkfifo "$W/gdb.in"
	: > "$W/gdb"
	gdb --quiet --nx -ex 'set confirm off' -ex "attach $1" -ex 'echo attached\n' \
		0<> "$W/gdb.in" > "$W/gdb" 2>&1 &
	gdb=$!
	started="$started $gdb"
	wait_for 60 grep -q '^attached' "$W/gdb"
	! not_traced "$1" || fail "gdb did not attach: $(cat "$W/gdb")"
}

# gdb_end: it detaches
gdb_end() {
	echo detach > "$W/gdb.in"
	echo quit > "$W/gdb.in"
	wait_for 30 gone "$gdb"
}

gdb_refused() {
	timeout $((60 * PACE)) gdb --quiet --nx --batch -ex "attach $1" > "$W/gdb" 2>&1
	sed 's/^/   /' "$W/gdb"
	grep -q 'Operation not permitted' "$W/gdb" || fail "gdb did not report that"
}

# criu_begin PID: in the background; $criu is its PID
criu_begin() {
	rm -rf "$W/images"
	mkdir "$W/images"
	: > "$W/criu"
	criu dump -t "$1" -D "$W/images" -j --leave-running > "$W/criu" 2>&1 &
	criu=$!
	started="$started $criu"
}

# criu_fails PID REGEX: the dump ends with an error, and says that
criu_fails() {
	criu_begin "$1"
	wait_for 60 gone "$criu"
	! wait "$criu" || fail "criu dumped it"
	grep -E 'Error' "$W/criu" | sed 's/^/   /'
	grep -Eq "$2" "$W/criu" || fail "criu did not say $2: $(tail -n 5 "$W/criu")"
}

# criu_stopped PID: it traces the process, and is stopped; $criu is its PID. A dump that
# was over before that is begun again.
criu_stopped() {
	for _ in 1 2 3 4 5 6 7 8; do
		criu_begin "$1"
		until tracer_is "$1" "$criu" || gone "$criu"; do :; done
		kill -STOP "$criu" 2> /dev/null || continue
		! tracer_is "$1" "$criu" || return 0
		kill -CONT "$criu" 2> /dev/null
		wait "$criu"
	done
	fail "no dump lasted long enough"
}

criu_goes_on() {
	kill -CONT "$criu"
	wait "$criu"
}

# tracer_is PID TRACER: without a process
tracer_is() {
	while read -r _word _value _; do
		[ "$_word" != TracerPid: ] || break
	done < "/proc/$1/status"
	[ "$_value" = "$2" ]
}
