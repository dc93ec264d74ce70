# SPDX-License-Identifier: GPL-2.0-only
# The driver's pause through the library alone, with no session and no process
# left behind: off the GPU, back again, a second one, with a debug suspend on
# top, and the ends of a paused process.
# tier: gate
# timeout: 120
# driver: any
# vgpu: gpus=2
. /t/pause.sh

step "off the GPU and back, nothing attached in between"
start a --queues 3 --sdma 1 --packet 5ms
p=$(pid a)
wait_for 15 running "$p"
gp 0 check "$p"
gp 0 pause "$p"
printed "before no after yes contexts 1 foreign 0"
expect_paused "$p"
grep -q '^TracerPid:.0$' "/proc/$p/status" || fail "still traced"
expect_no_progress a

step "a second pause is not counted"
gp 0 pause "$p"
printed "before yes after yes"
expect_paused "$p"
gp 0 unpause "$p"
printed "before yes after no"
wait_for 15 running "$p"
expect_progress a

step "unpause of one that is not paused"
gp 0 unpause "$p"
printed "before no after no"

if has_debug_trap; then
	step "a debug suspend on top, and its resume: still paused"
	gp 0 pause "$p"
	ctl 7 suspend "$p"
	says_what_to_do "process $p is paused by another program"
	session_on_top "$p"
	wait_for 15 view_is "$p" suspended 1
	expect_view "$p" evicted 1
	end_session "$p"
	wait_for 15 view_is "$p" suspended 0
	expect_paused "$p"
	expect_no_progress a
	gp 0 unpause "$p"
	wait_for 15 running "$p"

	step "paused on top of a debug suspend: still suspended after the unpause"
	hold "$p"
	# The holder traces it: nothing can be paused, and nothing is done.
	gp 7 pause "$p"
	printed "traced by process"
	expect_view "$p" evicted 0
	release_target "$p"
fi
stop a

step "a queue that is made while it is paused does not run before the end"
steps_start s open init queue
s=$(pid s)
gp 0 pause "$s"
take s queue
wait_for 5 view_is "$s" evicted 1
[ "$(view "$s" evicted | wc -l)" -eq 2 ] || fail "not two queues"
expect_view "$s" active 0
gp 0 unpause "$s"
wait_for 15 running "$s"

step "runtime off, destroy and a normal end of a paused process do not wait"
gp 0 pause "$s"
take s shut
take s destroy
tell s close
wait "$s" || fail "ended with $?"
wait_for 15 not_in_view "$s"

step "kill -9 of a paused process"
start k --queues 2 --packet 5ms
gp 0 pause "$(pid k)"
kill -9 "$(pid k)"
wait_for 5 gone "$(pid k)"
wait_for 15 not_in_view "$(pid k)"
gp 5 unpause "$(pid k)"
