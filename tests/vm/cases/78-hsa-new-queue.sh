# SPDX-License-Identifier: GPL-2.0-only
# Queues that appear while a program is held are caught: a user queue that it
# creates, and the SDMA queues that ROCr creates for the first copies.
# timeout: 120
. /t/rocm.sh

step "a user queue"
hsa_start a 13 --queues 2 --packet 1ms
p=$(pid a)
wait_for 5 has_queues "$p" "3 compute-aql"
hold "$p"
kill -USR2 "$p"
wait_for 5 has_queues "$p" "4 compute-aql"
wait_for 3 view_is "$p" suspended 1
wait_for 3 view_is "$p" active 0
expect_no_progress a
let_go "$p"
expect_progress a
stop a

step "SDMA queues, made by the first copies"
hsa_start b 13 --queues 1 --packet 1ms --copy 65536 --copy-on-usr1
p=$(pid b)
hold "$p"
[ "$(queue_types "$p")" = "2 compute-aql" ] || fail "it copied before it was held"
kill -USR1 "$p"
wait_for 5 has_queues "$p" "2 compute-aql 1 sdma"
wait_for 3 view_is "$p" suspended 1
wait_for 3 view_is "$p" active 0
bytes=$(counter 0 sdma_bytes)
sleep 0.3
[ "$(counter 0 sdma_bytes)" = "$bytes" ] || fail "a suspended queue copies"
let_go "$p"
wait_for 5 has_queues "$p" "2 compute-aql 2 sdma"
stop b
[ "$(result b copies)" -gt 0 ] || fail "no copies"
