# SPDX-License-Identifier: GPL-2.0-only
# follow by a pause: off the GPU while it is stopped or frozen, with no session on it, and
# it runs however the follower ends.
# timeout: 150
# driver: any
. /t/steps.sh

C=/sys/fs/cgroup

follow() {
	setsid gpreempt-ctl follow "$@" > "$W/follow" 2>&1 &
	f=$!
	started="$started $f"
	wait_for 20 grep -q '^following ' "$W/follow"
}

is_paused() { wait_for 15 view_is "$1" evicted 1; }

expect_nothing_left() {
	wait_for 15 running "$p"
	wait_for 15 nothing_held
	ctl 0 repair
	says 'nothing is paused'
}

start a --queues 2 --packet 1ms
p=$(pid a)

step "stopped and continued, and no tracer in between"
follow --how pause "$p"
# reported N: so many times
reported() { [ "$(grep -c "^suspended $p: it is stopped, 2 of 2 queues" "$W/follow")" -eq "$1" ]; }
for n in 1 2; do
	kill -STOP "$p"
	is_paused "$p"
	# It is traced while the ioctl is answered, and for a moment longer.
	wait_for 5 not_traced "$p"
	wait_for 5 reported $n
	kill -CONT "$p"
	wait_for 15 running "$p"
	expect_progress a
done

step "status names it, and resume is refused"
kill -STOP "$p"
is_paused "$p"
ctl 0 status
says "^${p}[[:space:]].*follow"
ctl 7 resume "$p"
is_paused "$p"

step "Ctrl-C while it is stopped"
kill -INT "$f"
wait "$f" || fail "the follower ended with $?"
wait_for 15 nothing_held
ctl 0 repair
says 'nothing is paused'
kill -CONT "$p"
expect_nothing_left
expect_progress a

step "the process that holds it is killed: its guardian undoes it"
follow --how pause "$p"
kill -STOP "$p"
is_paused "$p"
kill -KILL "$(holder_of "$p")"
wait "$f"
[ $? -eq 1 ] || fail "the follower ended with another status"
kill -CONT "$p"
expect_nothing_left
expect_progress a

step "its cgroup is frozen"
mkdir -p $C/job
echo "$p" > $C/job/cgroup.procs
follow --how pause "$p"
echo 1 > $C/job/cgroup.freeze
is_paused "$p"
echo 0 > $C/job/cgroup.freeze
wait_for 15 running "$p"
expect_progress a

step "it ends"
stop a
wait "$f" || fail "the follower ended with $?"
grep -q "^ended $p: 1 suspensions" "$W/follow" || fail "the follower did not report its end"
rmdir $C/job

step "auto pauses, also one without a runtime, which debug leaves alone"
start b --queues 1 --packet 1ms --no-runtime
p=$(pid b)
follow "$p"
kill -STOP "$p"
is_paused "$p"
kill -CONT "$p"
wait_for 15 running "$p"
expect_progress b
kill -INT "$f"
wait "$f"
if has_debug_trap; then
	follow --how debug "$p"
	kill -STOP "$p"
	wait_for 15 grep -q "^suspended $p: it is stopped, 0 of" "$W/follow"
	expect_view "$p" evicted 0
	kill -CONT "$p"
	kill -INT "$f"
	wait "$f"
fi
expect_nothing_left
stop b
