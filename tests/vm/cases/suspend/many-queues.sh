# SPDX-License-Identifier: GPL-2.0-only
# 127 queues, as many as the driver gives a process on most GPUs (255 on gfx 9.4.3),
# held and released in one call.
# timeout: 90
. /t/steps.sh

all_made() { [ "$(grep -c '^done queue' "$W/a.out")" -eq 127 ]; }

with_127() {
	steps_start a open init
	p=$(pid a)
	n=0
	while [ $n -lt 127 ]; do
		tell a queue
		n=$((n + 1))
	done
	wait_for 30 all_made
	[ "$(queue_number "$p")" -eq 127 ] || fail "not 127 queues"
}

with_127
unmaps=$(counter 0 unmap_queues)
ctl 0 suspend "$p"
says "^suspended $p: 127 queues, .*verified: yes"
expect_suspended "$p"
echo "unmaps: $(($(counter 0 unmap_queues) - unmaps))"
ctl 0 resume "$p"
says "^resumed $p: 127 queues"
view_is "$p" suspended 0 || fail "not all are released"
step "half of them, then the rest"
ctl 0 suspend "$p" --queues "$(seq -s, 0 2 126)"
says "^suspended $p: 64 queues"
expect_view "$p" suspended 1 126
expect_view "$p" suspended 0 125
ctl 0 suspend "$p"
says "^suspended $p: 127 queues"
# It destroys them one by one. Each could be found and resumed by itself, which
# costs a look and a call each; but after four it is clear what comes.
step "its end: within 100 ms of what it takes when it is not held"
end_time a tell a close
held=$took
[ $status -eq 0 ] || fail "it ended with $status"
expect_nothing_left "$p"
with_127
end_time a tell a close
echo "ended after ${held}0 ms, and ${took}0 ms when it is not held"
[ "$held" -le $((took + 10 * SLOW)) ] || fail "too late"
