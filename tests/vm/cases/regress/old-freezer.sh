# SPDX-License-Identifier: GPL-2.0-only
# The freezer of cgroup v1: a process that is frozen there survives its watchdog
# and kill -9. So what holds a target leaves it; a frozen job cannot keep its
# target.
# timeout: 120
. /t/lib.sh

mkdir -p "$W/freezer"
mount -t cgroup -o freezer none "$W/freezer" || fail "this kernel has no old freezer"
job=$W/freezer/job
mkdir "$job"
thaw() { echo THAWED > "$job/freezer.state"; }

# in_job COMMAND...: becomes the command, in the job; in a subshell.
in_job() { exec sh -c "echo 0 > $job/cgroup.procs; exec \"\$@\"" sh "$@"; }
path_of() { sed -n 's/^[0-9]*:freezer://p' "/proc/$1/cgroup"; }

start a --queues 2 --packet 1ms
p=$(pid a)

step "suspend: the holder is not in the frozen job, so its lease ends"
(in_job gpreempt-ctl suspend "$p" --for 3s) || fail "suspend ended with $?"
for h in $(holder_of "$p") $(guardian_of "$p"); do
	[ "$(path_of "$h")" = / ] || fail "process $h is in $(path_of "$h")"
done
echo FROZEN > "$job/freezer.state"
wait_for 15 nothing_held
expect_progress a
thaw

step "preempt and guard leave it, too: the target can be killed"
in_job gpreempt-ctl preempt "$p" --count 1 --hold 60s > "$W/preempt" 2>&1 &
f=$!
started="$started $f"
wait_for 20 view_is "$p" suspended 1
[ "$(path_of "$f")" = / ] || fail "preempt is in $(path_of "$f")"
kill -INT "$f"
wait "$f"
start on --queues 1 --packet 5ms
in_job gpreempt-ctl guard --max-hold 60s --online "$(pid on)" --offline "$p" > "$W/guard" 2>&1 &
f=$!
started="$started $f"
wait_for 20 view_is "$p" suspended 1
[ "$(path_of "$f")" = / ] || fail "guard is in $(path_of "$f")"
[ "$(path_of "$(holder_of "$p")")" = / ] || fail "a worker of guard is not"
echo FROZEN > "$job/freezer.state"
kill -KILL "$p"
wait_for 15 gone "$p"
thaw
kill -TERM "$f"
wait "$f" || fail "guard ended with $?"

step "a target in the old freezer cannot be followed"
start b --queues 1 --packet 1ms
echo "$(pid b)" > "$job/cgroup.procs"
ctl 3 follow "$(pid b)"
says_what_to_do 'old freezer'
stop on
stop b
wait_for 10 rmdir "$job"
umount "$W/freezer"
