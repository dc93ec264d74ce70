# SPDX-License-Identifier: GPL-2.0-only
# A tenant that executes a file that does not answer cannot be traced: each command reports
# it in time, leaves nothing, and does not keep others waiting.
# timeout: 240
# tier: gate
. /t/hostile.sh

attacked exec

step "neither by a pause nor by a session"
stuck 'it is executing a program' suspend "$p" --how pause
stuck 'it is executing a program' suspend "$p" --how debug
stuck 'it is executing a program' suspend "$p"
stuck 'it is executing a program' preempt "$p" --how pause --count 1
expect_view "$p" evicted 0

step "others do not wait"
others_go_on other
wait_for 10 nothing_of_ours

step "it answers: the tenant goes on"
answers
wait_for 10 grep -q '^sleep$' "/proc/$p/comm"
stop other
