# SPDX-License-Identifier: GPL-2.0-only
# What can go wrong while guard holds a process: each ends with offline running,
# and with a message if guard still runs.
# race: guard and its targets are killed and stopped
# timeout: 180
. /t/lib.sh

guard() {
	setsid gpreempt-ctl guard --max-hold 60s --verbose "$@" > "$W/guard" 2>&1 &
	g=$!
	started="$started $g"
}

# both: online never rests, offline is held
both() {
	start off --queues 2 --packet 5ms
	start on --queues 1 --packet 20ms
	guard --online "$(pid on)" --offline "$(pid off)"
	wait_for 20 view_is "$(pid off)" suspended 1
}

said() { grep -Eq -e "$1" "$W/guard"; }
end_guard() {
	kill -TERM "$g"
	wait "$g" || fail "guard ended with $?: $(cat "$W/guard")"
}

off_runs() {
	wait_for 20 running "$(pid off)"
	expect_progress off
}

step "guard is killed"
both
kill -KILL "$g"
off_runs
nothing_held || fail "something is held"

step "guard is stopped: offline runs at once, and the kernel ends guard"
guard --online "$(pid on)" --offline "$(pid off)"
wait_for 20 view_is "$(pid off)" suspended 1
kill -STOP "$g"
wait_for 5 running "$(pid off)"
off_runs
wait_for 30 gone "$g"

step "online dies in the middle of its work"
guard --online "$(pid on)" --offline "$(pid off)"
wait_for 20 view_is "$(pid off)" suspended 1
kill -KILL "$(pid on)"
wait_for 15 said "process $(pid on) is not online any more"
off_runs

step "online comes back under another PID, offline ends by itself while it is held"
end_guard
start on --queues 1 --packet 20ms
guard --online comm:vgpu-load --offline "$(pid off)"
wait_for 15 said "process $(pid off) is left alone"
end_guard
guard --online "$(pid on)" --offline "$(pid off)"
wait_for 20 view_is "$(pid off)" suspended 1
kill -TERM "$(pid off)"
wait_for 30 gone "$(pid off)"
# Its last packets were held: it waited for them for 10 s, and exits with 3.
wait "$(pid off)"
[ $? -eq 3 ] || fail "it did not end by itself"
wait_for 15 said "process $(pid off) is not offline any more"

step "offline is killed while it is held"
end_guard
start off --queues 2 --packet 5ms
guard --online "$(pid on)" --offline "$(pid off)"
wait_for 20 view_is "$(pid off)" suspended 1
kill -KILL "$(pid off)"
wait_for 15 gone "$(pid off)"
wait_for 15 said "process $(pid off) is not offline any more"
end_guard

step "offline becomes another program while it is held"
start off --queues 2 --packet 5ms
guard --online "$(pid on)" --offline "$(pid off)"
wait_for 20 view_is "$(pid off)" suspended 1
kill -HUP "$(pid off)"
wait_for 15 said "process $(pid off) is (left alone|not offline any more)"
alive "$(pid off)" || fail "it was ended by that"
kill "$(pid off)"
end_guard

start off --queues 2 --packet 5ms

step "a target that cannot be attached is reported once, and others go on"
start other --queues 1 --packet 1ms
debugger "$(pid other)" > "$W/debugger" 2>&1 &
d=$!
started="$started $d"
wait_for 10 grep -q attached "$W/debugger"
guard --online "$(pid on)" --offline "$(pid off)" "$(pid other)"
wait_for 20 view_is "$(pid off)" suspended 1
wait_for 20 said "process $(pid other) is left alone: "
# It is tried again each second.
sleep 3
kill -KILL $d
wait_for 20 view_is "$(pid other)" suspended 1
[ "$(grep -c "process $(pid other) is left alone" "$W/guard")" -eq 1 ] || fail "said more than once"
end_guard
off_runs

step "gpreempt.ko is unloaded: arrivals cannot be seen, so offline runs"
guard --online "$(pid on)" --offline "$(pid off)"
wait_for 20 view_is "$(pid off)" suspended 1
unload
c0=$(count off)
next_lines off 5
[ "$(progress off completed)" -gt "$c0" ] || fail "offline is held although online is not seen"
wait_for 10 said "gpreempt.ko is gone"
end_guard
stop on
stop off
stop other
