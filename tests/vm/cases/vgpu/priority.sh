# SPDX-License-Identifier: GPL-2.0-only
# Queues of equal priority share a GPU evenly; a higher priority goes first.
# timeout: 120
# driver: any
. /t/lib.sh

step "equal"
start a --packet 1ms --priority 7 --depth 1024
start b --packet 1ms --priority 7 --depth 1024
next_lines b 2
a0=$(progress a completed) b0=$(progress b completed)
next_lines b 20
a=$(($(progress a completed) - a0)) b=$(($(progress b completed) - b0))
echo "equal: $a and $b"
between $((a * 100 / (a + b))) 35 65 "share of the first"
stop a
stop b

step "one is higher"
start low --packet 1ms --priority 1 --depth 1024
start high --packet 1ms --priority 15 --depth 1024
next_lines high 2
l0=$(progress low completed) h0=$(progress high completed)
next_lines high 10
l=$(($(progress low completed) - l0)) h=$(($(progress high completed) - h0))
echo "low $l, high $h"
[ $((l * 4)) -lt "$h" ] || fail "the higher priority does not go first"
stop high
expect_progress low
stop low
