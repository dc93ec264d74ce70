# SPDX-License-Identifier: GPL-2.0-only
# The reader of follow's or guard's output sleeps, and its pipe is full: the
# GPU is followed and preempted all the same, and what was dropped is counted.
# timeout: 120
. /t/lib.sh

# A full pipe that a sleeping process has open for reading.
full_pipe() {
	rm -f "$W/full"
	mkfifo "$W/full"
	sleep 1000 < "$W/full" &
	reader=$!
	started="$started $reader"
	dd if=/dev/zero of="$W/full" bs=4096 count=16 2> /dev/null ||
		fail "the pipe cannot be filled"
}


traced() { grep -q "TracerPid:[[:space:]]*[1-9]" "/proc/$1/status"; }

start a --queues 2 --packet 1ms
p=$(pid a)

step "follow"
full_pipe
gpreempt-ctl follow --how debug "$p" > "$W/full" 2>&1 &
f=$!
started="$started $f"
wait_for 20 traced "$p"
for _ in 1 2; do
	kill -STOP "$p"
	wait_for 15 view_is "$p" suspended 1
	# Longer than its watchdog waits.
	sleep 4
	alive "$f" || fail "follow was ended by its output"
	expect_suspended "$p"
	kill -CONT "$p"
	wait_for 15 running "$p"
done
: > "$W/read"
cat "$W/full" > "$W/read" &
started="$started $!"
wait_for 5 test -s "$W/read"
kill -TERM "$f"
wait "$f" || fail "follow ended with $?"
wait_for 15 grep -aq 'lines were not read in time, and dropped' "$W/read"
wait_for 15 grep -aq "^released $p: 2 suspensions" "$W/read"
kill "$reader"
expect_progress a

step "guard, with events in JSON"
start on --queues 1 --packet 5ms
full_pipe
gpreempt-ctl guard --json --max-hold 60s --online "$(pid on)" --offline "$p" > "$W/full" &
f=$!
started="$started $f"
wait_for 20 view_is "$p" suspended 1
# Longer than its watchdog waits.
sleep 16
alive "$f" || fail "guard was ended by its output"
expect_suspended "$p"
: > "$W/read"
cat "$W/full" > "$W/read" &
started="$started $!"
wait_for 5 test -s "$W/read"
kill -TERM "$f"
wait "$f" || fail "guard ended with $?"
wait_for 15 grep -aq '"event":"dropped","lines":[1-9]' "$W/read"
wait_for 15 grep -aq '"event":"summary"' "$W/read"
kill "$reader"
expect_progress a
stop on
stop a
