# SPDX-License-Identifier: GPL-2.0-only
# guard as the service of a node: roles come from cgroups, and an offline process that job
# control stops or freezes is off the GPU, with and without online work.
# timeout: 240
. /t/lib.sh
. /t/guard.sh

C=/sys/fs/cgroup
mkdir -p $C/job $C/serve

# off_still: no queue of it is on the GPU, also a while later
off_still() {
	wait_for 15 view_is "$p" active 0
	_busy=$(busy_ms 0 "$p")
	sleep 1
	view_is "$p" active 0 || fail "$1"
	[ "$(busy_ms 0 "$p")" -eq "$_busy" ] || fail "$1: the GPU was busy with it"
}

runs() {
	wait_for 20 running "$p"
	expect_progress a
}

freeze() { echo "$1" > $C/job/cgroup.freeze; }

start a --queues 2 --packet 2ms
p=$(pid a)

for how in pause debug; do
	step "$how: it is offline by its cgroup; stopped and frozen"
	echo "$p" > $C/job/cgroup.procs
	guard --online role:online --offline role:offline --follow --how $how --max-hold 60s \
		--verbose
	ctl 0 role offline cgroup:/job
	wait_for 30 said "process $p is offline"
	kill -STOP "$p"
	off_still "it is stopped, and its queues run"
	wait_for 15 said "^suspended $p: job-control, 2 of 2 queues"
	kill -CONT "$p"
	runs
	freeze 1
	off_still "it is frozen, and its queues run"
	kill -STOP "$p"
	freeze 0
	sleep 0.5
	off_still "it is stopped still, and its queues run"
	kill -CONT "$p"
	runs

	step "$how: online has work while it is frozen; it runs when both are over"
	start on --packet 20ms
	echo "$(pid on)" > $C/serve/cgroup.procs
	ctl 0 role online cgroup:/serve
	wait_for 30 view_is "$p" active 0
	freeze 1
	sleep 0.5
	freeze 0
	off_still "it was thawed, and online has work"
	freeze 1
	sleep 0.5
	stop on
	sleep 1
	off_still "it is frozen, and its queues run"
	freeze 0
	runs

	step "$how: guard ends while it is frozen: its queues run"
	freeze 1
	off_still "it is frozen, and its queues run"
	end_guard
	wait_for 15 view_is "$p" suspended 0
	wait_for 15 view_is "$p" evicted 0
	freeze 0
	runs
	says_guard '^job_control_resumes [1-9]'
	ctl 0 role none cgroup:/job
done

step "the role is taken away: guard lets it go"
guard --online role:online --offline role:offline --follow
ctl 0 role offline cgroup:/job
wait_for 30 said "process $p is offline"
freeze 1
off_still "it is frozen, and its queues run"
ctl 0 role none cgroup:/job
wait_for 30 said "process $p is not offline any more"
wait_for 15 view_is "$p" evicted 0
freeze 0
runs
end_guard
wait_for 15 nothing_held
stop a
