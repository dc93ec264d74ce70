# SPDX-License-Identifier: GPL-2.0-only
# One follower for all jobs of a node: it waits for processes in cgroups of a role, does not
# end with the last of them, and tries again what failed and what was killed.
# timeout: 150
. /t/lib.sh

C=/sys/fs/cgroup
mkdir -p $C/job

said() { [ "$(grep -Ec "$1" "$W/follow")" -ge "${2:-1}" ]; }
freeze() { echo "$1" > $C/job/cgroup.freeze; }

# frozen_and_thawed LABEL
frozen_and_thawed() {
	freeze 1
	wait_for 15 view_is "$(pid "$1")" active 0
	freeze 0
	wait_for 15 running "$(pid "$1")"
	expect_progress "$1"
}

step "what ends for good cannot be stayed for; a bad word is refused"
ctl 2 follow --stay $$
says_what_to_do 'ends once and for all'
ctl 2 follow --stay role:batch
says_what_to_do 'no target'

step "without a process it waits; a job is followed once its cgroup has the role"
setsid gpreempt-ctl follow --stay role:offline > "$W/follow" 2>&1 &
f=$!
started="$started $f"
wait_for 20 said '^looking for processes of role:offline'
start a --queues 2 --packet 1ms
echo "$(pid a)" > $C/job/cgroup.procs
sleep 1
said '^following' && fail "it follows what has no role"
ctl 0 role offline cgroup:/job
wait_for 15 said "^following $(pid a): "
frozen_and_thawed a

step "its follower is killed while the job is frozen: the queues run, and are off again"
freeze 1
wait_for 15 view_is "$(pid a)" active 0
kill -KILL "$(holder_of "$(pid a)")"
wait_for 15 said 'was killed by signal 9; the queues run'
wait_for 15 said "^following $(pid a): " 2
wait_for 15 said "^suspended $(pid a): it is frozen" 3
view_is "$(pid a)" active 0 || fail "its queues run"
freeze 0
wait_for 15 running "$(pid a)"

step "the job ends and starts again; the next one is held by another command for a while"
stop a
wait_for 15 said "^ended $(pid a): "
start b --queues 1 --packet 1ms
ctl 0 suspend "$(pid b)"
echo "$(pid b)" > $C/job/cgroup.procs
wait_for 15 said "$(pid b).*held by|held by.*$(pid b)"
ctl 0 resume "$(pid b)"
wait_for 20 said "^following $(pid b): "
frozen_and_thawed b
alive $f || fail "the follower has ended"

step "it ends when it is asked to"
freeze 1
wait_for 15 view_is "$(pid b)" active 0
kill -INT $f
wait $f || fail "the follower ended with $?"
freeze 0
wait_for 15 running "$(pid b)"
nothing_held || fail "something is held still"
stop b
