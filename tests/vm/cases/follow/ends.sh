# SPDX-License-Identifier: GPL-2.0-only
# However a follower ends, its target's queues run, stopped or not.
# race: a follower is killed while its target is stopped
# timeout: 150
. /t/lib.sh

start a --queues 2 --packet 1ms
p=$(pid a)

# held: a follower $f with a child $c, and a target that is stopped
held() {
	setsid gpreempt-ctl follow --how debug "$p" > "$W/follow" 2>&1 &
	f=$!
	started="$started $f"
	wait_for 20 grep -q '^following ' "$W/follow"
	kill -STOP "$p"
	wait_for 15 view_is "$p" suspended 1
	c=$(holder_of "$p")
	[ "$c" != "$f" ] || fail "the follower has no process of its own for its target"
}

free() {
	wait_for 20 running "$p"
	wait_for 15 gone "$c"
	not_traced "$p" || fail "the target is still traced"
	read -r _ _ s _ < "/proc/$p/stat"
	[ "$s" = T ] || fail "the target is not stopped any more: $s"
	kill -CONT "$p"
	expect_progress a
}

for sig in INT TERM HUP QUIT; do
	step "SIG$sig"
	held
	kill -$sig "$f"
	wait "$f" || fail "the follower ended with $?"
	free
done

step "killed"
held
kill -KILL "$f"
wait "$f"
free

step "the process that has the session is killed"
held
kill -KILL "$c"
wait "$f"
[ $? -eq 1 ] || fail "the follower did not fail"
grep -q "was killed by signal 9; the queues run" "$W/follow" || fail "no sentence"
free

step "it is stopped itself: the kernel ends it"
held
kill -STOP "$c"
wait "$f"
[ $? -eq 1 ] || fail "the follower did not fail"
free

nothing_held || fail "something is held still"
stop a
