# SPDX-License-Identifier: GPL-2.0-only
# follow with SIGSTOP and SIGCONT in quick order, while its worker or the follower itself
# is killed: the last signal counts, and the target runs when no process follows it.
# timeout: 60
. /t/races.sh

start a --queues 2 --packet 1ms --rate 50
p=$(pid a)
draw 2
how=debug off=suspended
[ "$drawn" -eq 0 ] || how=pause off=evicted
chaos_begin

follow() {
	: > "$W/follow"
	gpreempt-ctl follow --how $how "$p" > "$W/follow" 2>&1 &
	f=$!
	started="$started $f"
	wait_for 20 grep -q '^following ' "$W/follow"
}

# stops N: that often stopped and continued, without waiting for what it does.
stops() {
	_n=$1
	while [ "$_n" -gt 0 ]; do
		kill -STOP "$p"
		later 10
		kill -CONT "$p"
		later 10
		_n=$((_n - 1))
	done
}

step "the last signal counts"
follow
stops 3
wait_for 15 running "$p"
kill -STOP "$p"
wait_for 15 view_is "$p" $off 1
kill -CONT "$p"
wait_for 15 running "$p"

step "the follower is killed"
stops 1
kill -STOP "$p"
later 40
kill -9 "$f"
wait "$f"
wait_for 15 running "$p"
kill -CONT "$p"

step "its worker is killed"
follow
stops 1
kill -STOP "$p"
later 40
kill_holder "$p" holder
later 20
kill -CONT "$p"
wait_for 15 running "$p"

step "it is asked to end"
kill -TERM "$f"
wait "$f"
case $? in
0|1) ;;
*) fail "the follower ended with $?: $(cat "$W/follow")" ;;
esac
kill -CONT "$p"
all_free a
