# SPDX-License-Identifier: GPL-2.0-only
# A target whose first thread sleeps in state D, as on a dead NFS server: its tracer cannot
# have it stop. Suspend, resume, the end of a lease and of guard give a clear answer, the
# queues run afterwards, nothing stays attached, and the target goes on and can be killed.
# timeout: 120
. /t/steps.sh
. /t/guard.sh

in_d() {
	grep -q '^State:[[:space:]]*D' "/proc/$p/status"
}

# The first thread goes to sleep, and until wake_up() no signal but SIGKILL reaches it.
sleep_in_d() {
	tell a uninterruptible
	wait_for 10 in_d
	child=$(children "$p")
	[ -n "$child" ] || fail "no child that it waits for"
}

# It has slept all the time, and is as it was.
wake_up() {
	in_d || fail "it does not sleep any more"
	_steps=$(grep -c '^done ' "$W/a.out")
	kill -CONT "$child"
	wait_for 10 steps_taken a $((_steps + 1))
	last_step a | grep -q '^done uninterruptible' || fail "it failed: $(last_step a)"
	take a fork
}

steps_start a open init queue queue
p=$(pid a)

step "suspend, and resume"
sleep_in_d
hold "$p"
ctl 0 resume "$p"
says "^resumed $p: 2 queues"
expect_free a
wake_up

step "asleep since the suspend; the lease ends"
hold "$p" --for 2s
sleep_in_d
expect_free a
wake_up

step "the worker is killed"
hold "$p"
sleep_in_d
kill -9 "$(holder_of "$p")"
expect_free a
wake_up

step "preempt"
sleep_in_d
ctl 0 preempt "$p" --count 2 --hold 50ms
expect_free a
wake_up

step "guard, which ends while it is suspended"
sleep_in_d
guard --max-hold 60s --online comm:none --offline "$p"
wait_for 20 said "process $p is offline"
ctl 0 guard begin
wait_for 15 view_is "$p" suspended 1
end_guard
expect_free a
wake_up

step "kill -9 while it is held"
hold "$p"
sleep_in_d
kill -9 "$p"
wait "$p"
[ $? -eq 137 ] || fail "it ended otherwise"
kill -9 "$child"
expect_nothing_left "$p"
