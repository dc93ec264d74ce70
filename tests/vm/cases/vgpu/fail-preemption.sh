# SPDX-License-Identifier: GPL-2.0-only
# fail_preempt: the hardware does not let one queue go, and the driver resets
# it. The tool must not hang or crash, the rest of the GPU goes on.
# allow-log: Queue preemption failed|queue id 0x[0-9a-f]+ .* is reset|Queues reset
# timeout: 120
. /t/lib.sh

start a --queues 3 --packet 1ms --per-queue --drain 1s
p=$(pid a)
ctl 0 suspend "$p" --queues 0
# The session is open, so the next unmap is that of this suspend.
switch 0 fail_preempt "$p"
timeout $((30 * PACE)) gpreempt-ctl suspend "$p" > "$W/ctl" 2>&1
status=$?
cat "$W/ctl"
echo "status $status"
case $status in
0|1|6) ;;
*) fail "suspend ended with $status" ;;
esac
[ "$(counter 0 queue_resets)" -gt 0 ] || fail "no queue was reset, so nothing was tested"
expect_no_progress a

lab 0 klog
says 'GPU [0-9a-f:.]+: preemption failed [0-9]+ time'
ctl 0 doctor
says 'warning.preemptions.GPU [0-9a-f:.]+: preemption failed [0-9]+ time'

timeout $((30 * PACE)) gpreempt-ctl resume "$p"

next_lines a 1
q0=$(queue_count a 0)
next_lines a 4
[ "$(queue_count a 0)" -gt "$q0" ] || fail "the queue that was not touched does not go on"
start b --packet 1ms --count 200
expect_good_end b
kill -TERM "$p"
wait "$p"
echo "a ended with $?: $(grep '^done' "$W/a.out")"
[ "$(result a doubled)" = 0 ] || fail "packets ran twice"
