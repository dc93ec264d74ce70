# SPDX-License-Identifier: GPL-2.0-only
# in_reset: a GPU held in reset. The view does not touch its registers and
# does not wait: it says that the slots are not readable.
# timeout: 90
# driver: any
. /t/lib.sh

start a --queues 2 --packet 1ms
wait_for 15 running "$(pid a)"
switch 0 in_reset 1
reads=$(counter 0 reg_reads_hqd)
# One that waited would not come back: the reset ends below.
expect_view "$(pid a)" active -
[ "$(counter 0 reg_reads_hqd)" -eq "$reads" ] || fail "registers were read during a reset"
switch 0 in_reset 0
wait_for 15 running "$(pid a)"
stop a
