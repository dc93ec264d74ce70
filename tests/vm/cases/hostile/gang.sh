# SPDX-License-Identifier: GPL-2.0-only
# Two targets at once: one by a session, and a hostile one by a pause whose helper waits
# in the driver. The helper must not keep the memory of the session's owner, which ends
# the session: when the command is killed, the first target runs.
# timeout: 240
# tier: gate
. /t/hostile.sh

silent_files
start good --queues 2 --packet 1ms
start a --queues 2 --no-runtime --packet 1ms --attack driver="$file"
g=$(pid good) p=$(pid a)

step "the good one is suspended, and the pause of the hostile one waits"
gpreempt-ctl preempt "$g" "$p" --count 100 --hold 1s --interval 4s > "$W/preempt" 2>&1 &
c=$!
started="$started $c"
wait_for 20 view_is "$p" evicted 1
wait_for 20 running "$p"
attack a
wait_for 20 view_is "$g" suspended 1
sleep 1
expect_no_progress good
kill -KILL $c
wait $c

step "killed: the good one runs, the hostile one still waits"
wait_for 10 running "$g"
expect_progress good

step "it answers: it runs, too"
answers
wait_for 10 grep -q attacked "$W/a.out"
wait_for 30 running "$p"
expect_progress a
stop a
stop good
wait_for 10 nothing_of_ours
