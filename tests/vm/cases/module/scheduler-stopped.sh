# SPDX-License-Identifier: GPL-2.0-only
# stopped: the driver's scheduler is stopped on this GPU.
# timeout: 90
# driver: any
. /t/lib.sh

start a --queues 2 --packet 1ms
wait_for 15 running "$(pid a)"
switch 0 stopped 1
expect_view "$(pid a)" active -
switch 0 stopped 0

# The driver maps its queues again when it next changes the run list.
start b --packet 1ms --count 100
wait_for 15 running "$(pid a)"
expect_progress a
expect_good_end b
stop a
