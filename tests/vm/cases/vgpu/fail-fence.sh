# SPDX-License-Identifier: GPL-2.0-only
# fail_fence: the fence of an unmap is never written. The driver gives up after
# its timeout and resets the GPU; the tool reports it and does not claim success.
# tier: gate
# allow-log: fence wait|hws_hang|HIQ|[Rr]eset|hang|evict|Failed|preempt
# timeout: 180
. /t/lib.sh

echo 1000 > /sys/module/amdgpu/parameters/queue_preemption_timeout_ms
start a --queues 2 --packet 1ms --drain 1s
switch 0 fail_fence 1
timeout $((40 * PACE)) gpreempt-ctl suspend "$(pid a)" > "$W/ctl" 2>&1
status=$?
cat "$W/ctl"
[ $status -ne 0 ] || fail "a suspend that timed out was called a success"
[ $status -lt 124 ] || fail "gpreempt-ctl ended with $status"
[ -s "$W/ctl" ] || fail "it says nothing"
grep -q 'verified: yes' "$W/ctl" && fail "verified, although the GPU hung"
switch 0 fail_fence 0
was_reset() { [ "$(counter 0 gpu_resets)" -gt 0 ]; }
wait_for 10 was_reset
kill -9 "$(pid a)"
wait_for 10 not_in_view "$(pid a)"

step "a new process works after the reset"
start b --packet 1ms --count 200
expect_good_end b
