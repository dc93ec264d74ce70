# SPDX-License-Identifier: GPL-2.0-only
# The whole point: no progress while suspended, and exact afterwards.
# tier: gate
# timeout: 120
. /t/lib.sh

start a --queues 4 --packet 5ms
p=$(pid a)
expect_progress a
hold "$p"
says 'suspended [0-9]+: 4 queues, ioctl [0-9.]+ us, verified: yes'
says '^slots [0-9.]+ us \(resolution [0-9.]+ us\)'
expect_no_progress a
awk -f /t/join.awk /dev/null "$DEBUGFS/kfd/hqds" | grep -q 'active 0$' ||
	fail "the hardware still holds a slot"
ctl 0 status
says "^$p[[:space:]]"
release_target "$p"
says 'resumed [0-9]+: 4 queues, ioctl [0-9.]+ us'
expect_progress a
ctl 0 status
nothing_held || fail "status still names the target"
stop a

step "again and again"
start b --queues 2 --packet 300us
for _ in 1 2 3 4 5; do
	hold "$(pid b)"
	release_target "$(pid b)"
done
expect_progress b
stop b
