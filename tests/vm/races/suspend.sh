# SPDX-License-Identifier: GPL-2.0-only
# suspend, resume and suspend again at once, while the worker or the guardian is killed
# and while the target ends: it is never left behind suspended.
# timeout: 60
. /t/races.sh

start a --queues 2 --packet 1ms --rate 50
start b --queues 1 --packet 1ms --rate 50
p=$(pid a) q=$(pid b)
chaos_begin

step "suspend, resume, suspend"
for _ in 1 2; do
	run suspend "$p"
	later 30
	run resume "$p"
	later 30
	run suspend "$p"
	ended 0
done

step "resume and suspend, and a process of the holder is killed"
run suspend "$p"
ended 0
run resume "$p"
later 30
run suspend "$p"
draw 2
[ "$drawn" -eq 0 ] && who=holder || who=guardian
kill_holder "$p" $who
ended 0 1
run suspend "$p"
ended 0
kill_holder "$p" $who
run suspend "$p"
ended 0 1
ctl 0 resume "$p"

step "the target is killed"
run suspend "$q"
later 40
kill -9 "$q"
run resume "$q"
run suspend "$q"
ended 0 1 5
expect_nothing_left_of() {
	wait_for 5 not_in_view "$1"
	wait_for 15 nothing_held
}
expect_nothing_left_of "$q"
all_free a
