# SPDX-License-Identifier: GPL-2.0-only
# guard with two offline processes, one of which executes a file that does not answer,
# holds its lock in the driver, or puts that file at its descriptor's number: the other is
# off the GPU while online has work, and so is the hostile one by its new number.
# timeout: 300
. /t/hostile.sh
. /t/guard.sh

silent_files
start on --packet 20ms --rate 4
start good --queues 2 --packet 5ms
for how in exec driver number; do
	silent_again
	start a --queues 2 --packet 5ms --attack "$how=$file"
	p=$(pid a)

	step "$how: before guard begins, and while it is at work"
	guard --online "$(pid on)" --offline "$(pid good)" --offline "$p" --how pause --verbose
	wait_for 30 said "process $p is offline"
	wait_for 30 view_is "$(pid good)" evicted 1
	wait_for 30 running "$(pid good)"
	kill -HUP "$p"
	wait_for 20 grep -q waits "$W/server"
	wait_for 60 said "cannot be traced now"
	wait_for 30 view_is "$(pid good)" evicted 1
	wait_for 30 running "$(pid good)"
	if [ $how = number ]; then
		wait_for 30 view_is "$p" evicted 1
		wait_for 30 running "$p"
	fi
	end_guard

	step "$how: it answers"
	answers
	wait_for 20 nothing_of_ours
	kill -KILL "$p"
	wait "$p"
done
stop good
stop on
