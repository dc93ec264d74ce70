# SPDX-License-Identifier: GPL-2.0-only
# Debian 13's ROCr: packets exactly once, copies right, waits by interrupt and
# by polling, one packet at a time too; its own queues are in view with slots.
# tier: gate
. /t/rocm.sh

step "by interrupt, flat out"
irqs=$(counter 0 interrupts)
hsa_start a 13 --queues 3 --packet 500us --copy 65536
p=$(pid a)
wait_for 5 has_queues "$p" "4 compute-aql 2 sdma"
wait_for 5 running "$p"
[ "$(view "$p" slots | sort -n | uniq | tr '\n' ' ')" = "1 4 " ] || fail "slots"
ctl 0 queues "$p"
says 'compute-aql'
says 'sdma'
# It runs until all of that was looked at, however slow the host is.
stop a
[ "$(result a copies)" -gt 0 ] || fail "no copies"
[ $(($(counter 0 interrupts) - irqs)) -ge "$(result a completed)" ] ||
	fail "not an interrupt a packet"
[ "$(counter 0 sdma_bytes)" -ge $(($(result a copies) * 65536)) ] || fail "SDMA moved less"

step "by polling"
hsa_start b 13 --queues 2 --packet 100us --count 1000 --poll
expect_good_end b
[ "$(result b completed)" = 2000 ] || fail "not 2000 packets"

step "one at a time"
hsa_start c 13 --packet 100us --count 200 --depth 1
expect_good_end c
wait_for 2 no_kfd_process
