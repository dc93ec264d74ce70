# SPDX-License-Identifier: GPL-2.0-only
# As ROCm's spur does it: after a prolog as in docs/clusters.md, a job runs as a process
# group in a PID namespace, in the cgroup /spur/job_<id>, and is suspended by a SIGSTOP to
# the group. Followed by its cgroup, and with others of the node by its role.
# timeout: 120
. /t/lib.sh

said() { [ "$(grep -Ec "$1" "$W/follow")" -ge "${2:-1}" ]; }

follow() {
	setsid gpreempt-ctl follow "$@" > "$W/follow" 2>&1 &
	f=$!
	started="$started $f"
}

prolog() {
	SPUR_JOB_ID=$1
	mkdir -p "/sys/fs/cgroup/spur/job_$SPUR_JOB_ID"
	gpreempt-ctl role offline "cgroup:/spur/job_$SPUR_JOB_ID" || :
}

load_of() { cat "/sys/fs/cgroup/spur/job_$1/cgroup.procs" | while read -r _p; do
	! grep -qx vgpu-load "/proc/$_p/comm" || echo "$_p"
done; }

# spur_job ID LABEL ARGS...: its process group is then $group.
spur_job() {
	_id=$1 _l=$2
	shift 2
	mkdir -p "/sys/fs/cgroup/spur/job_$_id"
	: > "$W/$_l.out"
	setsid sh -c "echo \$\$ > /sys/fs/cgroup/spur/job_$_id/cgroup.procs
		exec unshare -p -m -f sh -c 'vgpu-load $* > $W/$_l.out 2> $W/$_l.err; exit \$?'" &
	group=$!
	started="$started $group"
	wait_for 40 is_ready "$_l"
	eval "pid_$_l=$(load_of "$_id")"
}

# stopped_and_continued LABEL: twice
stopped_and_continued() {
	_p=$(pid "$1")
	for n in 1 2; do
		kill -STOP "-$group"
		wait_for 15 view_is "$_p" active 0
		wait_for 5 said "^suspended $_p: it is stopped, 2 of 2 queues" $n
		expect_no_progress_of "$_p"
		kill -CONT "-$group"
		wait_for 15 running "$_p"
		wait_for 5 said "^resumed $_p: it is continued, 2 of 2 queues" $n
		expect_progress "$1"
	done
}

# What runs while it prints nothing, as a stopped program does.
expect_no_progress_of() {
	_busy=$(busy_ms 0 "$1")
	sleep 1
	[ "$(busy_ms 0 "$1")" -eq "$_busy" ] || fail "its packets run while it is stopped"
}

# end_job LABEL: as its user would; each packet has run once.
end_job() {
	kill -TERM "$(pid "$1")"
	wait "$group" || fail "the job ended with $?: $(cat "$W/$1.err")"
	grep '^done ' "$W/$1.out"
	[ "$(result "$1" submitted)" = "$(result "$1" completed)" ] ||
		fail "$1: completed and submitted differ"
	[ "$(result "$1" completed)" -gt 0 ] || fail "$1: no packet at all"
}

step "followed by its cgroup"
spur_job 7 a --queues 2 --packet 1ms
cat "/proc/$(pid a)/cgroup"
follow cgroup:/spur/job_7
wait_for 15 said "^following $(pid a): "
stopped_and_continued a
end_job a
wait "$f" || fail "the follower ended with $?"

step "a job after the prolog, and one that has no role: one follower for the node"
follow --stay role:offline
wait_for 20 said '^looking for processes of role:offline'
spur_job 8 other --queues 2 --packet 1ms
other=$group
prolog 9
spur_job 9 b --queues 2 --packet 1ms
wait_for 15 said "^following $(pid b): "
stopped_and_continued b
end_job b
! said "^following $(pid other): " || fail "it follows a job that has no role"
group=$other
end_job other

step "killed while it is stopped"
prolog 10
spur_job 10 c --queues 2 --packet 1ms
wait_for 15 said "^following $(pid c): "
kill -STOP "-$group"
wait_for 15 view_is "$(pid c)" active 0
kill -KILL "-$group"
wait_for 15 said "^ended $(pid c): "
kill -INT "$f"
wait "$f" || fail "the follower ended with $?"
nothing_held || fail "something is held still"
