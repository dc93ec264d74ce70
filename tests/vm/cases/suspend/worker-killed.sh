# SPDX-License-Identifier: GPL-2.0-only
# The holder's worker is killed: the queues run again, no process is left behind.
# race: a guardian takes over from a worker that is killed
# tier: gate
# timeout: 90
. /t/lib.sh

start a --queues 2 --packet 5ms
p=$(pid a)
hold "$p"
worker=$(holder_of "$p") guardian=$(guardian_of "$p")
kill -9 "$worker"
wait_for 15 running "$p"
expect_progress a
wait_for 15 gone "$guardian"
nothing_held || fail "status names a target whose holder is dead"
not_traced "$p" || fail "the target is still traced"
hold "$p"
release_target "$p"
stop a
