# SPDX-License-Identifier: GPL-2.0-only
# Suspend of some queues leaves the others working.
# tier: gate
# timeout: 120
. /t/lib.sh

start a --queues 4 --packet 2ms --per-queue
p=$(pid a)
wait_for 15 running "$p"
ctl 0 suspend "$p" --queues 1,3
says "suspended $p: 2 queues"
for q in 1 3; do
	expect_view "$p" suspended 1 $q
	expect_view "$p" active 0 $q
done
for q in 0 2; do
	expect_view "$p" suspended 0 $q
	expect_view "$p" active 4 $q
done
next_lines a 2
for q in 0 1 2 3; do
	queue_count a $q > "$W/q$q"
done
next_lines a 4
for q in 0 1 2 3; do
	before=$(cat "$W/q$q") after=$(queue_count a $q)
	echo "queue $q: $before, then $after"
	case $q in
	1|3) [ "$before" -eq "$after" ] || fail "queue $q makes progress while suspended" ;;
	*)   [ "$before" -lt "$after" ] || fail "queue $q makes no progress" ;;
	esac
done

step "the rest too"
ctl 0 suspend "$p"
expect_suspended "$p"
expect_no_progress a
release_target "$p"
stop a
