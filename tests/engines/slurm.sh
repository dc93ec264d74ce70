# SPDX-License-Identifier: GPL-2.0-only
# Slurm on one node, with the prolog and epilog of docs/clusters.md: a job of a partition
# of higher priority suspends one and its queues, and they go on after it; suspend and
# resume by hand; a job is cancelled while it is suspended.
# timeout: 600
. /t/lib.sh
. /t/engines.sh
. /t/slurm.sh

# follows JOB PID: the prolog's unit does
follows() { logged "gpreempt-job-$1" "^following $2: "; }

step "the daemons, and a node that is idle"
slurm_start

step "a job of the offline partition is followed by its prolog's unit"
job offline off --queues 2 --packet 1ms
off_job=$job
runs "$off_job" off
p=$(pid off)
wait_for 30 follows "$off_job" "$p"
cat "/proc/$p/cgroup"
t=$(task_of "$off_job")

step "a job of the online partition suspends it and its queues, and it goes on after that"
watch_stop "$off_job" "$p"
job online on --queues 2 --packet 1ms --duration 5s
on_job=$job
wait_for 60 is_state "$on_job" RUNNING
wait_for 60 is_state "$off_job" SUSPENDED
wait_for 30 off "$p"
off_in_time
wait_for 60 is_ready on
busy=$(busy_ms 0 "$p")
sleep 2
[ "$(busy_ms 0 "$p")" -eq "$busy" ] || fail "its packets run while the job is suspended"
ended_well on
wait_for 60 not_state "$on_job" RUNNING
wait_for 60 is_state "$off_job" RUNNING
wait_for 60 running "$p"
expect_progress off

# A job that was suspended by hand is not suspended by the gang scheduler any more: this is
# the second step.
step "suspended and resumed by hand"
for n in 1 2; do
	scontrol suspend "$off_job" || fail "suspend: $?"
	wait_for 30 off "$p"
	wait_for 30 frozen $t
	scontrol resume "$off_job" || fail "resume: $?"
	wait_for 30 running "$p"
	expect_progress off
done

step "cancelled while it is suspended: the follower and its unit end"
scontrol suspend "$off_job"
wait_for 30 off "$p"
scancel "$off_job" || fail "scancel: $?"
wait_for 90 gone "$p"
wait_for 60 not_state "$off_job" SUSPENDED
wait_for 60 idle
wait_for 30 is_inactive "gpreempt-job-$off_job"
nothing_left
