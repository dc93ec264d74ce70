# SPDX-License-Identifier: GPL-2.0-only
# The Python package: a held process is served although Python keeps the GIL.
# timeout: 120
. /t/lib.sh

# Becomes Python: to be run in the background.
serve() {
	PYTHONHOME=/files/python PYTHONPATH=/files LD_LIBRARY_PATH=/files:/files/python/lib \
		exec /files/python/bin/python3 -S /files/served.py "$1" "$W/told" 20 > "$W/python" 2>&1
}

start a --queues 2 --packet 1ms
p=$(pid a)
: > "$W/told"
serve "$p" &
program=$!
wait_for 30 grep -q held "$W/told"

step "its signals arrive while nothing in Python can run"
i=0
while [ $i -lt 10 ]; do
	kill -USR1 "$p"
	i=$((i + 1))
	wait_for 15 grep -q "^signals $i\$" "$W/a.out"
done
# Else this has shown nothing.
! grep -q '^free$' "$W/told" || fail "Python had the GIL back before all signals arrived"
expect_no_progress a

step "it runs on after that, and its end is reported"
wait_for 30 grep -q '^resumed$' "$W/told"
expect_progress a
kill -9 "$p"
wait "$program" || { cat "$W/python"; fail "the program ended with $?"; }
cat "$W/python"
grep -q '^second session: ' "$W/python" || fail "two sessions"
grep -q '^ended: ' "$W/python" || fail "its end was not reported"

step "killed while Python keeps the GIL: gone at once"
start b --queues 2 --packet 1ms
p=$(pid b)
: > "$W/told"
serve "$p" &
program=$!
wait_for 30 grep -q held "$W/told"
kill -9 "$p"
wait_for 15 gone "$p"
! grep -q '^free$' "$W/told" || fail "it took until the GIL was free"
kill -9 "$program"

step "killed while it holds: the queues run"
start c --queues 2 --packet 1ms
p=$(pid c)
: > "$W/told"
serve "$p" &
program=$!
wait_for 30 grep -q held "$W/told"
kill -9 "$program"
expect_progress c
stop c
