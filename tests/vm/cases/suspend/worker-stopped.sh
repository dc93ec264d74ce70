# SPDX-License-Identifier: GPL-2.0-only
# A worker that hangs (here: SIGSTOP) must not make its target unkillable.
# tier: gate
# timeout: 120
. /t/lib.sh

step "the target is killed while its holder is stopped"
start a --queues 2 --packet 5ms
p=$(pid a)
hold "$p"
worker=$(holder_of "$p")
kill -STOP "$worker"
kill -9 "$p"
wait_for 15 gone "$p"
wait "$p"
wait_for 15 not_in_view "$p"
wait_for 15 gone "$worker"

step "the holder is stopped, the target is not killed: it runs again"
start b --queues 2 --packet 5ms
p=$(pid b)
hold "$p"
worker=$(holder_of "$p")
kill -STOP "$worker"
wait_for 15 running "$p"
expect_progress b
wait_for 15 gone "$worker"
stop b
