# SPDX-License-Identifier: GPL-2.0-only
# guard and follow on a real terminal: the live line and its width, Ctrl-C, a
# terminal that is closed, Ctrl-Z in a shell with job control.
# timeout: 120
. /t/lib.sh
. /t/guard.sh

start off --queues 2 --packet 2ms
start on --queues 1 --packet 50ms --rate 4
p=$(pid off)
mkfifo "$W/keys"

# typed COMMAND...: on a terminal of its own; keys go into $W/keys
typed() {
	on-terminal "$@" 0<> "$W/keys" > "$W/guard" 2>&1 &
	terminal=$!
	started="$started $terminal"
}

step "a live line that is written over; Ctrl-Z does nothing, Ctrl-C ends it"
typed gpreempt-ctl guard --online "$(pid on)" --offline "$p" --max-hold 60s --poll 1ms
wait_for 20 said 'online: [01] of 1 busy; offline: [01] of 1 held; [1-9][0-9]* preemptions'
printf '\032' > "$W/keys"
wait_for 20 said 'offline: [01] of 1 held; ([5-9]|[1-9][0-9]+) preemptions'
# Each line is taken away by the next: a carriage return, and clear to the end.
grep -q "$(printf '\r\033\\[K')online: " "$W/guard" || fail "the line is not taken away"
printf '\003' > "$W/keys"
wait $terminal || fail "guard ended with $? at Ctrl-C"
says_guard '^offline_share_percent '
wait_for 15 running "$p"
nothing_held || fail "something is held"

step "no wider than its terminal"
terminal 30 sh -c "gpreempt-ctl guard --online $(pid on) --offline $p & sleep 4; kill \$!; wait" \
	> "$W/guard" 2>&1
says_guard 'online: [01] of 1 busy; '
said 'offline: [01] of 1 held' && fail "the line is wider than the terminal"
wait_for 15 running "$p"

step "the terminal is closed: the queues run"
stop on
start on --queues 1 --packet 5ms
typed gpreempt-ctl guard --online "$(pid on)" --offline "$p" --max-hold 60s
wait_for 20 view_is "$p" suspended 1
kill $terminal
wait_for 15 running "$p"
wait_for 15 nothing_held
stop on
expect_progress off
stop off

step "Ctrl-Z in a shell with job control stops the queues, fg lets them go"
typed sh -i
printf 'vgpu-load --queues 2 --packet 1ms > %s/job.out\n' "$W" > "$W/keys"
wait_for 20 is_ready job
p=$(sed -n 's/^ready pid \([0-9]*\).*/\1/p' "$W/job.out")
started="$started $p"
setsid gpreempt-ctl follow "$p" > "$W/follow" 2>&1 &
f=$!
started="$started $f"
wait_for 20 grep -q '^following ' "$W/follow"
printf '\032' > "$W/keys"
wait_for 15 view_is "$p" evicted 1
wait_for 5 grep -q "^suspended $p: it is stopped" "$W/follow"
printf 'fg\n' > "$W/keys"
wait_for 15 running "$p"
expect_progress job

step "bg lets them go, too; and the program ends by Ctrl-C, and its follower with it"
printf '\032' > "$W/keys"
wait_for 15 view_is "$p" evicted 1
printf 'bg\n' > "$W/keys"
wait_for 15 running "$p"
printf 'fg\n' > "$W/keys"
in_foreground() {
	read -r _ _ _ _ group _ _ foreground _ < "/proc/$p/stat"
	[ "$group" = "$foreground" ]
}
wait_for 5 in_foreground
printf '\003' > "$W/keys"
wait_for 20 gone "$p"
wait "$f" || fail "the follower ended with $?"
kill $terminal
