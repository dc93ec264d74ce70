# SPDX-License-Identifier: GPL-2.0-only
# The hardware scheduler hangs while a process is paused, and the driver
# gives up and resets the GPU. It is reported, not repeated, and repair ends in time.
# allow-log: fence wait|hws_hang|HIQ|[Rr]eset|hang|evict|Failed|preempt
# timeout: 240
. /t/steps.sh

echo 1000 > /sys/module/amdgpu/parameters/queue_preemption_timeout_ms

were_reset() {
	[ "$(counter 0 gpu_resets)" -gt "$1" ]
}

# hangs RESETS COMMAND...: it ends in time, and claims no success.
hangs() {
	_resets=$1
	shift
	switch 0 fail_fence 1
	timeout 30 gpreempt-ctl "$@" > "$W/ctl" 2>&1
	_got=$?
	cat "$W/ctl"
	switch 0 fail_fence 0
	[ $_got -ne 0 ] && [ $_got -lt 124 ] || fail "gpreempt-ctl $* ended with $_got"
	says 'dmesg|kernel log|evicted'
	wait_for 10 were_reset "$_resets"
}

# ends LABEL: the target can be killed, nothing of it stays, and the GPU works.
ends() {
	kill -9 "$(pid "$1")"
	wait_for 10 not_in_view "$(pid "$1")"
	wait_for 10 no_holder "$(pid "$1")"
	timeout 5 gpreempt-ctl repair > "$W/ctl" 2>&1 || fail "repair: $(cat "$W/ctl")"
	start "after_$1" --packet 1ms --count 100
	expect_good_end "after_$1"
}

step "while it is paused, and nothing stays behind"
start a --queues 2 --packet 1ms --drain 0
hangs 0 suspend "$(pid a)" --how pause
ends a

step "the GPU is reset for another process while it is paused"
start c --queues 2 --packet 1ms --drain 0
ctl 0 suspend "$(pid c)" --how pause
start d --queues 1 --packet 1ms --drain 0
hangs 1 suspend "$(pid d)" --how debug
timeout 30 gpreempt-ctl resume "$(pid c)" > "$W/ctl" 2>&1
echo "resume after the reset ended with $?"
cat "$W/ctl"
ends c
kill -9 "$(pid d)"
