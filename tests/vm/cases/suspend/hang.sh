# SPDX-License-Identifier: GPL-2.0-only
# The hardware scheduler hangs while queues are suspended: the driver gives up
# after its 9 s and resets the GPU. It is reported as such, the suspend is not
# tried again, and the holder lives through it.
# allow-log: fence wait|hws_hang|HIQ|[Rr]eset|hang|evict|Failed|preempt
# timeout: 120
. /t/steps.sh

step "the driver's own time"
[ "$(cat /sys/module/amdgpu/parameters/queue_preemption_timeout_ms)" = 9000 ] ||
	fail "not the driver's default"
start a --queues 2 --packet 1ms --drain 0
p=$(pid a)
# A session that is open has made its runlist; the next unmap is the suspend's.
ctl 0 suspend "$p" --queues 0
switch 0 fail_fence 1
t0=$(uptime_cs)
timeout $((60 * PACE)) gpreempt-ctl suspend "$p" > "$W/ctl" 2>&1
status=$?
took=$(($(uptime_cs) - t0))
cat "$W/ctl"
echo "status $status after ${took}0 ms"
[ "$took" -ge 800 ] || fail "the driver did not wait"
# Once more would be 9 s more.
[ "$took" -le 1600 ] || fail "it was tried again"
case $status in 1|6) ;; *) fail "suspend ended with $status" ;; esac
grep -q 'verified: yes' "$W/ctl" && fail "verified, although the GPU hung"
says 'reset'
says 'dmesg|kernel log'
switch 0 fail_fence 0
# were_reset N: more than N resets
were_reset() { [ "$(counter 0 gpu_resets)" -gt "$1" ]; }
wait_for 10 were_reset 0

step "the target can be killed and the host works"
timeout $((30 * PACE)) gpreempt-ctl resume "$p"
end_time a kill -9 "$p"
echo "ended with $status after ${took}0 ms"
expect_nothing_left "$p"
start b --packet 1ms --count 200
expect_good_end b

step "the hang comes while the session begins: the debug trap is not activated"
echo 1000 > /sys/module/amdgpu/parameters/queue_preemption_timeout_ms
start c --packet 1ms --drain 0
p=$(pid c)
resets=$(counter 0 gpu_resets)
switch 0 fail_fence 1
ctl 1 suspend "$p"
says_what_to_do 'activate|hang'
switch 0 fail_fence 0
not_traced "$p" || fail "it is still traced"
wait_for 10 no_holder
wait_for 10 were_reset "$resets"
end_time c kill -9 "$p"
expect_nothing_left "$p"
start d --packet 1ms --count 200
expect_good_end d
