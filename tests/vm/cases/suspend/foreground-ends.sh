# SPDX-License-Identifier: GPL-2.0-only
# A command in the foreground keeps its session itself: however it ends, the
# queues run again.
# timeout: 120
. /t/lib.sh

for sig in INT TERM KILL; do
	step "preempt ends by SIG$sig in the middle of a hold"
	start a --queues 2 --packet 1ms
	p=$(pid a)
	# A shell's background job ignores SIGINT; this one must not.
	setsid sh -c 'trap - INT; exec gpreempt-ctl preempt "$0" --count 5 --hold 20s' "$p" \
		> "$W/preempt" 2>&1 &
	c=$!
	wait_for 15 view_is "$p" suspended 1
	kill -$sig "$c"
	wait_for 15 running "$p"
	wait_for 15 gone "$c"
	expect_progress a
	not_traced "$p" || fail "the target is still traced"
	stop a
done
