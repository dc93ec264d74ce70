# SPDX-License-Identifier: GPL-2.0-only
# Another process ends our debug session while the target is held, as it can
# where the driver does not check who asks: each owner of a session opens it
# again, and gives up when that happens too often.
# race: a session is ended while its owner uses it
# timeout: 150
. /t/lib.sh

# The driver resumes all queues before the write returns.
end_session() {
	echo "$1" > "$VGPU/end_session" || fail "process $1 has no debug session"
}

# Five losses in short order are made good.
lose_five() {
	for _ in 1 2 3 4 5; do
		end_session "$1"
		wait_for 15 view_is "$1" suspended 1
		wait_for 15 view_is "$1" active 0
	done
}

start a --queues 2 --packet 1ms
p=$(pid a)

step "a holder"
hold "$p"
worker=$(holder_of "$p")
lose_five "$p"
expect_no_progress a
[ "$(holder_of "$p")" = "$worker" ] || fail "another holder has it"
end_session "$p"
wait_for 15 nothing_held
expect_progress a

step "follow"
setsid gpreempt-ctl follow --how debug "$p" > "$W/follow" 2>&1 &
f=$!
started="$started $f"
wait_for 20 grep -q '^following ' "$W/follow"
kill -STOP "$p"
wait_for 15 view_is "$p" suspended 1
lose_five "$p"
end_session "$p"
wait "$f"
[ $? -eq 1 ] || fail "follow did not end with 1: $(cat "$W/follow")"
[ "$(grep -c 'ended our debug session' "$W/follow")" -eq 5 ] || fail "follow did not say why"
kill -CONT "$p"
expect_progress a

step "preempt: its figures would be wrong, so it ends"
gpreempt-ctl preempt "$p" --count 1 --hold 60s > "$W/preempt" 2>&1 &
f=$!
started="$started $f"
wait_for 20 view_is "$p" suspended 1
end_session "$p"
wait "$f"
[ $? -eq 1 ] || fail "preempt did not end with 1: $(cat "$W/preempt")"
expect_progress a

step "guard"
start on --queues 1 --packet 5ms
gpreempt-ctl guard --max-hold 60s --online "$(pid on)" --offline "$p" > "$W/guard" 2>&1 &
f=$!
started="$started $f"
wait_for 20 view_is "$p" suspended 1
lose_five "$p"
end_session "$p"
wait_for 15 grep -q "process $p is left alone: another process ended" "$W/guard"

step "guard takes it again a little later"
wait_for 30 view_is "$p" suspended 1
kill -TERM "$f"
wait "$f" || fail "guard ended with $?: $(cat "$W/guard")"
expect_progress a
stop on
stop a
