# SPDX-License-Identifier: GPL-2.0-only
# Slurm with our SPANK plug-in, and one follower for all jobs of the node: --gpu-role gives a
# job's cgroup its role. Preemption by a partition, an array, a requeue, a job that is
# cancelled while it is suspended, and one that ignores SIGTSTP; what is refused at
# submission, and what a node refuses; jobs start without the follower, and as fast as
# without the plug-in.
# timeout: 900
. /t/lib.sh
. /t/engines.sh
. /t/slurm.sh

PLUGSTACK=/etc/slurm/plugstack.conf
PLUGIN=/usr/local/lib/gpreempt/gpreempt-spank.so
FOLLOWER=gpreempt-follow@role:offline.service

# refused ROLE WHAT: by srun and sbatch, before there is a job
refused() {
	printf '#!/bin/sh\n' > "$W/nothing"
	chmod 755 "$W/nothing"
	for _command in srun sbatch salloc; do
		"$_command" -p offline --gpu-role="$1" "$W/nothing" > "$W/refused" 2>&1 &&
			fail "$_command takes --gpu-role=$1"
		grep -q "gpreempt: --gpu-role=$1 is not one of the roles here: $2" "$W/refused" ||
			fail "$_command does not say why: $(cat "$W/refused")"
		cat "$W/refused"
	done
	[ -z "$(squeue -h)" ] || fail "there is a job: $(squeue)"
}

# start_time WHAT OPTIONS...: ms that a job of nothing takes, of five; in $ms
start_time() {
	_what=$1
	shift
	now_cs
	_begin=$_cs
	for _n in 1 2 3 4 5; do
		srun -p offline --gres=shard:1 "$@" /bin/true || fail "srun: $?"
	done
	now_cs
	ms=$(((_cs - _begin) * 2))
	echo "   $ms ms: $_what"
}

no_role() { ! role_is offline "$1" && ! role_is online "$1"; }
role_is() { gpreempt-ctl list "role:$1" 2> /dev/null | grep -q "^$2[[:space:]]"; }

# followed JOB LABEL: it runs, has its role, and is followed.
followed() {
	runs "$1" "$2"
	p=$(pid "$2")
	wait_for 15 role_is offline "$p"
	wait_for 30 logged "$FOLLOWER" "^following $p: "
}

# suspend_and_resume JOB LABEL
suspend_and_resume() {
	watch_stop "$1" "$(pid "$2")"
	scontrol suspend "$1" || fail "suspend: $?"
	wait_for 30 off "$(pid "$2")"
	off_in_time
	scontrol resume "$1" || fail "resume: $?"
	wait_for 30 running "$(pid "$2")"
	expect_progress "$2"
}

# end_job JOB LABEL: each packet has run once.
end_job() {
	scancel --batch -s TERM "$1" || fail "scancel: $?"
	ended_well "$2"
	wait_for 60 not_state "$1" RUNNING
}

step "the daemons: two processors, and no prolog"
sed -i -e '/^Prolog=/d' -e '/^Epilog=/d' -e 's/CPUs=1/CPUs=2/' /etc/slurm/slurm.conf
echo SlurmdParameters=config_overrides >> /etc/slurm/slurm.conf
# A requeued job waits as long as that for its new start.
echo AuthInfo=cred_expire=10 >> /etc/slurm/slurm.conf
slurm_start

step "a role that there is not, or that this cluster does not allow, is refused at submission"
refused batch offline
refused online offline

# no_weight OPTIONS WHY
no_weight() {
	# shellcheck disable=SC2086 # several options
	srun -p offline $1 /bin/true > "$W/refused" 2>&1 && fail "srun takes $1"
	grep -q "gpreempt: --gpu-weight$2" "$W/refused" ||
		fail "srun does not say why: $(cat "$W/refused")"
}

step "a weight: none without a largest one, and then none above it, and none that is online"
no_weight --gpu-weight=200 "=200: plugstack.conf here allows no weight"
echo "optional $PLUGIN roles=offline,online weight=300" > $PLUGSTACK
no_weight --gpu-weight=301 "=301 is not a number from 1 to 300"
no_weight "--gpu-weight=200 --gpu-role=online" " is for jobs that are offline"
no_weight "--gpu-role=online --gpu-weight=200" " is for jobs that are offline"
srun -p offline --gpu-weight=200 gpreempt-ctl role > "$W/step" || fail "srun: $?"
grep -q "^offline	.*	weight=200\$" "$W/step" || fail "the step has no weight: $(cat "$W/step")"
echo "optional $PLUGIN" > $PLUGSTACK

step "how long a job takes to start and end"
mv $PLUGSTACK $PLUGSTACK.off
start_time "without the plug-in"
without=$ms
mv $PLUGSTACK.off $PLUGSTACK
start_time "with it, no role"
start_time "--gpu-role=offline, no follower" --gpu-role=offline
stopped=$ms
systemctl start $FOLLOWER
start_time "--gpu-role=offline, and a follower" --gpu-role=offline
between "$stopped" 0 $((2 * without)) "ms with the plug-in, without a follower"
between "$ms" 0 $((2 * without)) "ms with the plug-in and a follower"

step "a job has the role, in its own cgroup, and is followed; one without has none"
JOB_OPTIONS=--gpu-role=offline
job offline off --queues 2 --packet 1ms
off_job=$job
followed "$off_job" off
ctl 0 role
says "^offline	$STEPS/job_$off_job	-\$"
ctl 0 list role:offline
JOB_OPTIONS=
job offline free --queues 1 --packet 1ms
free_job=$job
runs "$free_job" free
no_role "$(pid free)" || fail "it has a role"
end_job "$free_job" free

step "steps of srun in a batch job have its option: on another node there is no batch step"
cat > "$W/step.sh" <<-END
	#!/bin/sh
	gpreempt-ctl role none cgroup:$STEPS/job_\$SLURM_JOB_ID
	srun gpreempt-ctl role
END
sbatch -W -p offline --gpu-role=offline -o "$W/step" "$W/step.sh" > /dev/null || fail "sbatch: $?"
grep -q "^offline	" "$W/step" || fail "the step has no role: $(cat "$W/step")"

step "a role that the node does not allow: the job starts without it, and says why"
JOB_OPTIONS="--gpu-role=online --hold"
echo "optional $PLUGIN roles=offline,online" > $PLUGSTACK
job offline free --queues 1 --packet 1ms
free_job=$job
echo "optional $PLUGIN" > $PLUGSTACK
scontrol release "$free_job" || fail "release: $?"
runs "$free_job" free
no_role "$(pid free)" || fail "it has a role"
grep "gpreempt: job $free_job has no role on this node: plugstack.conf" "$W/free.slurm" ||
	fail "its output does not say why: $(cat "$W/free.slurm")"
end_job "$free_job" free

step "a job of the online partition suspends it and its queues, and it goes on after that"
echo "optional $PLUGIN roles=offline,online" > $PLUGSTACK
watch_stop "$off_job" "$(pid off)"
JOB_OPTIONS="--gpu-role=online -n 2"
job online on --queues 2 --packet 1ms --duration 5s
on_job=$job
runs "$on_job" on
role_is online "$(pid on)" || fail "it has no role"
wait_for 60 is_state "$off_job" SUSPENDED
wait_for 30 off "$(pid off)"
off_in_time
ended_well on
wait_for 60 is_state "$off_job" RUNNING
wait_for 60 running "$(pid off)"
expect_progress off

step "requeued: its new start is followed, too"
old=$(pid off)
# What the first start has printed is not the next one's.
: > "$W/off.out"
scontrol requeue "$off_job" || fail "requeue: $?"
wait_for 60 gone "$old"
wait_for 60 is_state "$off_job" RUNNING
followed "$off_job" off
[ "$(pid off)" != "$old" ] || fail "it was not requeued"
suspend_and_resume "$off_job" off

step "cancelled while it is suspended: the follower stays"
scontrol suspend "$off_job"
wait_for 30 off "$(pid off)"
scancel "$off_job" || fail "scancel: $?"
wait_for 90 gone "$(pid off)"
wait_for 60 idle
is_active $FOLLOWER || fail "the follower has ended"

step "an array of two tasks: each is a job with the role"
JOB_OPTIONS="--gpu-role=offline --array=0-1"
JOB_FIRST="exec \"$W/task\$SLURM_ARRAY_TASK_ID.sh\""
for n in 0 1; do
	{
		echo '#!/bin/sh'
		load_in "$W" "task$n" --queues 1 --packet 1ms
	} > "$W/task$n.sh"
	chmod 755 "$W/task$n.sh"
done
job offline array
JOB_FIRST=
both_run() { [ "$(squeue -h -r -t R -j "$job" | wc -l)" -eq 2 ]; }
wait_for 60 both_run
for n in 0 1; do
	id=$(squeue -h -r -j "${job}_$n" -o %A)
	eval "job_$n=\$id"
	followed "$id" "task$n"
done
for n in 0 1; do
	eval "id=\$job_$n"
	suspend_and_resume "$id" "task$n"
done
for n in 0 1; do
	eval "id=\$job_$n"
	end_job "$id" "task$n"
done

step "a job that ignores SIGTSTP: its queues are off once it is frozen"
JOB_OPTIONS=--gpu-role=offline
JOB_FIRST="trap '' TSTP"
job offline deaf --queues 2 --packet 1ms
followed "$job" deaf
watch_freeze "$p" "$(task_of "$job")"
scontrol suspend "$job" || fail "suspend: $?"
wait_for 30 off "$p"
off_in_time
scontrol resume "$job" || fail "resume: $?"
wait_for 30 running "$p"
expect_progress deaf
end_job "$job" deaf

wait_for 60 idle
systemctl stop $FOLLOWER
nothing_left
