# SPDX-License-Identifier: GPL-2.0-only
# Queues that appear while a program is held are caught: a user queue that it
# creates, and the SDMA queues that ROCr creates for the first copies.
# timeout: 120
. /t/rocm.sh

# A new queue runs until the holder suspends it. A copy that ends within that
# time makes the program create the second queue, for the other direction.
sdma_held() {
	case $(queue_types "$1") in
	"2 compute-aql "[12]" sdma") ;;
	*) return 1 ;;
	esac
	view_is "$1" suspended 1 && view_is "$1" active 0
}

# copies_nothing PID: its queues are the same, all held, for 300 ms, in which
# not a byte was copied.
copies_nothing() {
	_types=$(queue_types "$1")
	_bytes=$(counter 0 sdma_bytes)
	sdma_held "$1" && sleep 0.3 && sdma_held "$1" &&
		[ "$(queue_types "$1")" = "$_types" ] &&
		[ "$(counter 0 sdma_bytes)" = "$_bytes" ]
}

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
release_target "$p"
expect_progress a
stop a

step "SDMA queues, made by the first copies"
hsa_start b 13 --queues 1 --packet 1ms --copy 65536 --copy-on-usr1
p=$(pid b)
hold "$p"
[ "$(queue_types "$p")" = "2 compute-aql" ] || fail "it copied before it was held"
kill -USR1 "$p"
wait_for 5 sdma_held "$p"
wait_for 5 copies_nothing "$p"
copies_nothing "$p" || fail "a suspended queue copies, or there is one more"
release_target "$p"
wait_for 5 has_queues "$p" "2 compute-aql 2 sdma"
stop b
[ "$(result b copies)" -gt 0 ] || fail "no copies"
