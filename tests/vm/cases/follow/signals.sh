# SPDX-License-Identifier: GPL-2.0-only
# The GPU follows the signals of job control: stopped and continued with the
# process, by any sender of the signal.
# tier: gate
# timeout: 120
. /t/lib.sh

# follow ARGS...: in a session of its own, as a batch system would have it.
follow() {
	setsid gpreempt-ctl follow --how debug "$@" > "$W/follow" 2>&1 &
	f=$!
	started="$started $f"
	wait_for 20 grep -q '^following ' "$W/follow"
}

start a --queues 2 --packet 5ms
p=$(pid a)
follow "$p"
expect_progress a

# reported WHAT N: so many times
reported() { [ "$(grep -c "^$1, 2 of 2 queues" "$W/follow")" -eq "$2" ]; }
n=0
for time in first second; do
	n=$((n + 1))
	step "SIGSTOP, then SIGCONT, the $time time"
	kill -STOP "$p"
	wait_for 15 view_is "$p" suspended 1
	expect_suspended "$p"
	wait_for 5 reported "suspended $p: it is stopped" $n
	kill -CONT "$p"
	wait_for 15 running "$p"
	wait_for 5 reported "resumed $p: it is continued" $n
	expect_progress a
done

step "stopped and continued faster than it can be followed: the last word counts"
i=0
while [ $i -lt 20 ]; do
	kill -STOP "$p"
	kill -CONT "$p"
	i=$((i + 1))
done
wait_for 15 running "$p"
expect_progress a
kill -STOP "$p"
wait_for 15 view_is "$p" suspended 1

step "other signals wait as they do without us, and arrive"
kill -USR1 "$p"
kill -CONT "$p"
wait_for 15 grep -q '^signals 1$' "$W/a.out"

step "it ends: so does the follower"
stop a
wait "$f" || fail "the follower ended with $?"
grep -q "^ended $p: " "$W/follow" || fail "the follower did not say that it ended"

step "stopped before it is followed, and killed while it is stopped"
start b --queues 2 --packet 5ms
p=$(pid b)
kill -STOP "$p"
follow "$p"
wait_for 15 view_is "$p" suspended 1
kill -KILL "$p"
wait_for 15 gone "$p"
wait "$f" || fail "the follower ended with $?"
wait "$p"
wait_for 15 not_in_view "$p"
