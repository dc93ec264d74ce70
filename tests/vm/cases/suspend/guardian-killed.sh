# SPDX-License-Identifier: GPL-2.0-only
# The guardian is killed. A worker without its guardian could make its target
# unkillable, so it releases it: the queues run again.
# timeout: 90
. /t/lib.sh

start a --queues 2 --packet 1ms
p=$(pid a)
hold "$p"
worker=$(holder_of "$p")
kill -9 "$(guardian_of "$p")"
wait_for 15 running "$p"
expect_progress a
wait_for 15 gone "$worker"
nothing_held || fail "status still names the target"
stop a
