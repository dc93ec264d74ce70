# SPDX-License-Identifier: GPL-2.0-only
# asleep: a GPU whose power is down. Reading its registers would hang or
# wake it; the view leaves it alone.
# timeout: 90
# driver: any
. /t/lib.sh

start a --queues 2 --packet 1ms --rate 100
wait_for 15 running "$(pid a)"
switch 0 asleep 1
reads=$(counter 0 reg_reads_hqd)
expect_view "$(pid a)" active -
[ "$(counter 0 reg_reads_hqd)" -eq "$reads" ] || fail "registers of a sleeping GPU were read"
switch 0 asleep 0
wait_for 15 running "$(pid a)"
stop a
