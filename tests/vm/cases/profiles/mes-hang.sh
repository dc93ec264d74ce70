# SPDX-License-Identifier: GPL-2.0-only
# MES answers no more while queues are suspended: the driver waits for 2.1 s and resets the
# GPU. It is reported, not tried again, and the host works afterwards.
# vgpu: profile=gfx1201
# allow-log: MES|hws_hang|[Rr]eset|hang|evict|[Ff]ailed|preempt
# timeout: 120
. /t/steps.sh

start a --queues 2 --packet 1ms --drain 0
p=$(pid a)
ctl 0 suspend "$p" --queues 0
switch 0 fail_fence 1
t0=$(uptime_cs)
timeout $((60 * PACE)) gpreempt-ctl suspend "$p" > "$W/ctl" 2>&1
status=$?
took=$(($(uptime_cs) - t0))
cat "$W/ctl"
echo "status $status after ${took}0 ms"
[ "$took" -ge 200 ] || fail "the driver did not wait"
case $status in 1|6) ;; *) fail "suspend ended with $status" ;; esac
grep -q 'verified: yes' "$W/ctl" && fail "verified, although the GPU hung"
says 'reset'
switch 0 fail_fence 0
was_reset() { [ "$(counter 0 gpu_resets)" -gt 0 ]; }
wait_for 10 was_reset

step "the kernel's log has it; the simulated GPU's reset writes no line"
lab 0 klog
says 'GPU [0-9a-f:.]+: preemption failed [0-9]+ time'

step "the target can be killed and the host works"
timeout $((30 * PACE)) gpreempt-ctl resume "$p"
end_time a kill -9 "$p"
expect_nothing_left "$p"
start b --packet 1ms --count 200
expect_good_end b
