# SPDX-License-Identifier: GPL-2.0-only
# Two targets held at once, on one GPU; each is released alone.
# timeout: 120
. /t/lib.sh

start a --queues 2 --packet 1ms
start b --queues 3 --packet 1ms
start c --packet 1ms
hold "$(pid a)"
hold "$(pid b)"
ctl 0 status
says "^$(pid a)[[:space:]]"
says "^$(pid b)[[:space:]]"
expect_no_progress a
expect_no_progress b
expect_progress c
release_target "$(pid a)"
expect_progress a
expect_suspended "$(pid b)"
release_target "$(pid b)"
expect_progress b
stop a
stop b
stop c
