# SPDX-License-Identifier: GPL-2.0-only
# The Python package: a hold through a holder, released, left behind, and ended by the
# death of the program although its child lives.
# timeout: 120
. /t/lib.sh

mkdir -p /usr/local/libexec/gpreempt
ln -sf "$(command -v gpreempt-holder)" /usr/local/libexec/gpreempt/gpreempt-holder

# python WHAT: runs held.py, which does WHAT with a hold of $p.
python() {
	PYTHONHOME=/files/python PYTHONPATH=/files LD_LIBRARY_PATH=/files:/files/python/lib \
		/files/python/bin/python3 -S /files/held.py "$p" "$1" "$W/told" > "$W/python" 2>&1 ||
		{ cat "$W/python"; fail "$1 ended with $?"; }
}

start a --queues 2 --packet 1ms
p=$(pid a)

step "held and released, in the words of the package"
python with
expect_progress a

step "a gang with a process that it pauses"
python pause
expect_progress a

step "detached: it outlives the program, and its lease counts"
python detach
expect_suspended "$p"
wait_for 10 running "$p"

step "killed, with a child that lives on"
: > "$W/told"
python fork &
wait_for 30 grep -q '^forked [0-9]*$' "$W/told"
expect_suspended "$p"
kill -9 "$(sed -n 's/^program //p' "$W/told")"
wait_for 5 running "$p"
kill -0 "$(sed -n 's/^forked //p' "$W/told")" || fail "the child is gone"
kill -9 "$(sed -n 's/^forked //p' "$W/told")"
stop a
