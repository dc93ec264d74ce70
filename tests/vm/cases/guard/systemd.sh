# SPDX-License-Identifier: GPL-2.0-only
# What systemd hears from guard and follow: ready when they are, well while they
# are, that they end; all of it from the process that it started.
# timeout: 90
. /t/lib.sh
. /t/guard.sh

notify-log "$W/socket" > "$W/heard" 2>&1 &
started="$started $!"
wait_for 10 test -S "$W/socket"
export NOTIFY_SOCKET="$W/socket"

# heard TEXT: how often
heard() { grep -c " $1\$" "$W/heard"; }
has_heard() { [ "$(heard "$1")" -ge "$2" ]; }
# watchdog_ms TIME: what systemd would give to those that are started now
watchdog_ms() {
	export WATCHDOG_USEC="${1}000"
	half=$(($1 / 2))
}

# in_time: the last ten came within half of it, each. A busy host may be late
# once; who is too slow is late each time.
in_time() {
	awk -v half="$half" '/ WATCHDOG=1$/ { run = $1 - last <= half ? run + 1 : 0; last = $1 }
		END { exit run < 10 }' "$W/heard"
}

# silent SECONDS: nothing is heard for so long, which is two intervals and more
silent() {
	_n=$(wc -l < "$W/heard")
	sleep "$1"
	[ "$(wc -l < "$W/heard")" -eq "$_n" ] || fail "it says that it is well: $(tail -n 1 "$W/heard")"
}

# ended PID: its last message, sent once, and by no other process
ended() {
	tail -n 1 "$W/heard" | grep -q ' STOPPING=1$' || fail "STOPPING=1 is not its last word"
	[ "$(heard READY=1)" -eq 1 ] && [ "$(heard STOPPING=1)" -eq 1 ] || fail "not said once"
	head -n 1 "$W/heard" | grep -q ' READY=1$' || fail "READY=1 is not its first word"
	[ -z "$(awk -v pid="$1" '$2 != pid' "$W/heard")" ] || fail "another process spoke"
	: > "$W/heard"
}

start off --queues 1 --packet 1ms

step "guard that cannot start is never ready"
watchdog_ms 1000
guard --offline "$(pid off)" --online "comm:none" --cpu 77
wait "$g" && fail "it started"
[ -s "$W/heard" ] && fail "it says: $(cat "$W/heard")"

step "guard: ready, and well in time"
guard --offline "$(pid off)" --online "comm:none" --poll 20ms
wait_for 20 has_heard READY=1 1
[ -S /run/gpreempt-guard.sock ] || fail "ready, and no socket"
wait_for 20 in_time
wait_for 20 said "process $(pid off) is offline"

step "its main thread is stopped, the others are not: not well"
debugger "$g" stop > "$W/debugger" 2>&1 &
d=$!
wait_for 10 grep -q attached "$W/debugger"
sleep 0.3
silent 2
wait "$d"
n=$(heard WATCHDOG=1)
wait_for 10 has_heard WATCHDOG=1 $((n + 5))

step "guard ends"
end_guard
ended "$g"

step "follow is not ready before there is a target"
watchdog_ms 600
ln -s "$(command -v vgpu-load)" /tmp/later
gpreempt-ctl follow --wait 60s comm:later > "$W/follow" 2>&1 &
f=$!
started="$started $f"
silent 1
PROGRAM=/tmp/later
start late --queues 1 --packet 1ms
wait_for 20 has_heard READY=1 1
wait_for 5 grep -q "^following $(pid late)" "$W/follow"
wait_for 20 in_time

step "follow is stopped: not well"
kill -STOP "$f"
sleep 0.3
silent 1.5
kill -CONT "$f"
n=$(heard WATCHDOG=1)
wait_for 10 has_heard WATCHDOG=1 $((n + 3))

step "follow ends: asked to, and with its last target"
kill -TERM "$f"
wait "$f" || fail "follow ended with $?"
ended "$f"
gpreempt-ctl follow "$(pid late)" > "$W/follow" 2>&1 &
f=$!
started="$started $f"
wait_for 20 in_time
stop late
wait "$f" || fail "follow ended with $?"
ended "$f"
stop off
