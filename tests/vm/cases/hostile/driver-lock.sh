# SPDX-License-Identifier: GPL-2.0-only
# A tenant holds its process lock in the driver, by a page of a file that does not answer.
# The ioctl waits for that lock, and not even SIGKILL ends it: the helper that made it
# undoes it.
# timeout: 240
. /t/hostile.sh

attacked driver

step "a pause is given up"
stuck 'it holds a lock of the driver' suspend "$p" --how pause

step "others do not wait"
others_go_on other

step "it answers: what comes late is undone"
answers
wait_for 10 grep -q attacked "$W/a.out"
wait_for 10 nothing_of_ours
expect_progress a
expect_view "$p" evicted 0
stop a

step "a session is given up: its holder ends when the driver lets it"
silent_again
start b --queues 2 --packet 1ms --attack driver="$file"
p=$(pid b)
attack b
ctl 7 suspend "$p" --how debug
says_what_to_do 'cannot be traced now: it holds a lock of the driver'
expect_progress other
hold "$(pid other)"
release_target "$(pid other)"
answers
wait_for 20 nothing_of_ours
expect_progress b
expect_view "$p" suspended 0
ctl 0 suspend "$p"
ctl 0 resume "$p"
stop b
stop other
