# SPDX-License-Identifier: GPL-2.0-only
# What can go wrong below guard, or with the parts of it: each ends with offline
# running, and with a sentence.
# race: parts of guard are killed and stopped
# vgpu: gpus=2
# allow-log: fence wait|hws_hang|HIQ|[Rr]eset|hang|evict|Failed|preempt
# timeout: 150
. /t/lib.sh
. /t/guard.sh

C=/sys/fs/cgroup

off_runs() {
	wait_for 20 running "$(pid off)"
	expect_progress off
}

held() { wait_for 20 view_is "$(pid off)" suspended 1; }
is_stopped() { grep -q '^State:.*t (tracing stop)' "/proc/$g/task/$1/status" 2> /dev/null; }
# stop_others: all threads of guard but the first one, for 3 s each; $d: the last
# debugger. Which is the poller changes when a read takes long, and one more thread is
# made then: until there is none that is not stopped.
stop_others() {
	stopped=$g
	d=
	while :; do
		more=
		for t in /proc/"$g"/task/*; do
			tid=${t##*/}
			case " $stopped " in *" $tid "*) continue ;; esac
			debugger "$tid" stop > "$W/stop-$tid" 2>&1 &
			d=$!
			until is_stopped "$tid" || ! alive $d; do :; done
			stopped="$stopped $tid"
			more=1
		done
		[ -n "$more" ] || return 0
	done
}
# The first step of a partition switch is the driver's look for any process.
switch_partitions() { echo 1 2> /dev/null > "$VGPU/unplug"; }

step "no process is there: guard has no /dev/kfd open, and partitions can be switched"
guard --max-hold 60s --online cgroup:/online --offline cgroup:/offline --verbose
mkdir $C/online $C/offline
start off --gpus 0 --queues 2 --packet 10ms
echo "$(pid off)" > $C/offline/cgroup.procs
wait_for 20 said "process $(pid off) is offline"
ls -l /proc/"$g"/fd | grep -q /dev/kfd && fail "guard itself has /dev/kfd open"
switch_partitions && fail "partitions were switched under a process"
stop off
wait_for 10 said "process $(pid off) is not offline any more"
wait_for 20 switch_partitions
echo 1 > "$VGPU/plug" || fail "the GPU does not come back"
alive "$g" || fail "guard has ended"

step "the cgroups are removed and made again: targets are found in the new ones"
wait_for 10 rmdir $C/offline
rmdir $C/online
sleep 0.3
mkdir $C/online $C/offline
start off --gpus 0 --queues 2 --packet 10ms
start on --gpus 0 --queues 1 --packet 20ms
echo "$(pid off)" > $C/offline/cgroup.procs
echo "$(pid on)" > $C/online/cgroup.procs
held

step "the target is moved out of its cgroup while it is held, and that is removed"
echo "$(pid off)" > $C/cgroup.procs
rmdir $C/offline
wait_for 10 said "process $(pid off) is not offline any more"
off_runs
mkdir $C/offline
echo "$(pid off)" > $C/offline/cgroup.procs
held

step "a worker is killed: said, and its target is taken again"
worker=$(holder_of "$(pid off)")
[ "$worker" != "$g" ] || fail "guard has no worker"
kill -KILL "$worker"
wait_for 10 said "process $(pid off) is left alone: its worker was killed by signal 9"
held
[ "$(holder_of "$(pid off)")" != "$worker" ] || fail "it is the same worker"

step "a worker is stopped: its target runs, and is taken again"
worker=$(holder_of "$(pid off)")
kill -STOP "$worker"
wait_for 10 gone "$worker"
held

step "the poller and its stand-in are not run for 3 s: offline runs meanwhile, and it is reported"
stop_others
wait_for 5 running "$(pid off)"
alive "$d" || fail "offline ran only when the poller did"
wait "$d"
wait_for 10 said "the poller was not run for [0-9.]+ s: offline processes were resumed"
held

step "the clock is set: nothing changes"
date -s '2001-01-01 00:00:00' > /dev/null
expect_suspended "$(pid off)"
date -s '2035-01-01 00:00:00' > /dev/null
sleep 0.3
expect_suspended "$(pid off)"
alive "$g" || fail "guard has ended"

step "online is moved away: offline runs"
echo "$(pid on)" > $C/cgroup.procs
wait_for 10 said "process $(pid on) is not online any more"
off_runs

step "the GPU is reset in the middle of a suspend: said, offline is not left behind"
echo 1000 > /sys/module/amdgpu/parameters/queue_preemption_timeout_ms
resets=$(counter 0 gpu_resets)
switch 0 fail_fence 1
echo "$(pid on)" > $C/online/cgroup.procs
wait_for 20 said "process $(pid off) could not be suspended: GPU 0x[0-9a-f]+ did not release"
switch 0 fail_fence 0
was_reset() { [ "$(counter 0 gpu_resets)" -gt "$resets" ]; }
wait_for 20 was_reset
# The driver has evicted it, and will not have it back; guard holds no process.
wait_for 20 view_is "$(pid off)" suspended 0
kill -KILL "$(pid on)" "$(pid off)"
wait_for 20 gone "$(pid off)"

step "after the reset a new one is guarded by the same guard"
start off --gpus 0 --queues 2 --packet 10ms
start on --gpus 0 --queues 1 --packet 20ms
echo "$(pid off)" > $C/offline/cgroup.procs
echo "$(pid on)" > $C/online/cgroup.procs
held
end_guard
off_runs
stop off
stop on
