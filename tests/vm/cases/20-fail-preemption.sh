# SPDX-License-Identifier: GPL-2.0-only
# fail_preempt: the hardware does not let one queue go. The driver resets it;
# the tool says what happened and the other queues go on.
# allow-log: Queue preemption failed|queue id 0x[0-9a-f]+ .* is reset|reset
# timeout: 60
. /t/lib.sh

start a --queues 2 --packet 1ms --per-queue --drain 1s
start b --packet 1ms
switch 0 fail_preempt "$(pid a)"
timeout 30 gpreempt-ctl suspend "$(pid a)" > "$W/ctl" 2>&1
echo "status $?"
cat "$W/ctl"
switch 0 fail_preempt 0
timeout 30 gpreempt-ctl resume "$(pid a)"
expect_progress b
stop b
