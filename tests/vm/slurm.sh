# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2154 # W and started are lib.sh's
# What the cases with Slurm share, besides lib.sh and engines.sh: jobs, and how soon their
# queues are off after Slurm has stopped or frozen them.

STEPS=/system.slice/node_slurmstepd.scope

idle() { [ "$(sinfo -h -o %T 2> /dev/null | sort -u)" = idle ]; }
# The number of an array is also that of one of its tasks.
state() {
	scontrol show job "$1" 2> /dev/null | awk -v id="JobId=$1" '/^JobId=/ { on = $1 == id }
		on && sub(/^ *JobState=/, "") { print $1 }'
}
is_state() { [ "$(state "$1")" = "$2" ]; }
not_state() { [ -n "$(state "$1")" ] && ! is_state "$1" "$2"; }

slurm_start() {
	chmod 755 "$W"
	systemctl start munge slurmctld slurmd || fail "start: $?"
	wait_for 60 idle
}

# job PARTITION LABEL ARGS...: a batch job of a vgpu-load; its number is then $job.
# JOB_OPTIONS: of sbatch; JOB_FIRST: a line before it.
job() {
	_part=$1 _l=$2
	shift 2
	cat > "$W/$_l.sh" <<-END
		#!/bin/sh
		${JOB_FIRST:-:}
		$(load_in "$W" "$_l" "$@")
	END
	# shellcheck disable=SC2086 # several words
	job=$(sbatch --parsable -p "$_part" --gres=shard:1 -n 1 ${JOB_OPTIONS:-} \
		-o "$W/$_l.slurm" "$W/$_l.sh") || fail "sbatch: $?"
}

# runs JOB LABEL: its GPU process is then "$(pid LABEL)".
runs() {
	wait_for 60 is_state "$1" RUNNING
	found "$2" "$STEPS/job_$1"
}

task_of() { echo "$STEPS/job_$1/step_batch/user"; }

# stopped_or_frozen PID CGROUP: as Slurm does it, one after the other
stopped_or_frozen() {
	read -r _ _ _state _ < "/proc/$1/stat"
	[ "$_state" = T ] || frozen "$2"
}

# watch_stop JOB PID: in the background, for off_in_time
watch_stop() {
	: > "$W/freeze"
	{
		until stopped_or_frozen "$2" "$(task_of "$1")"; do sleep 0.01; done
		now_cs
		_stopped=$_cs
		until off "$2"; do :; done
		now_cs
		echo "$((_cs - _stopped))0 ms" > "$W/freeze"
	} &
	started="$started $!"
}
