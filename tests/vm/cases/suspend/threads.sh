# SPDX-License-Identifier: GPL-2.0-only
# Targets that are more than one thread: many of them, threads that come and go,
# fork and vfork while held, and one whose first thread has ended.
# race: threads come and go while their process is held
# timeout: 90
. /t/steps.sh

step "300 threads, forks and new threads while it is held"
steps_start a open init queue queue "threads 300" fork vfork
p=$(pid a)
hold "$p"
[ "$(ls "/proc/$p/task" | wc -l)" -gt 300 ] || fail "not 300 threads"
take a "churn 50"
take a fork
take a vfork
take a "threads 20"
expect_suspended "$p"
worker=$(holder_of "$p")
for t in $(ls "/proc/$p/task" | tail -n 5); do
	grep -q 'TracerPid:[[:space:]]*0' "/proc/$p/task/$t/status" || fail "thread $t is traced"
done
step "its queues' end, with all those threads to look at"
take a destroy
alive "$worker" || fail "the holder ended"
ctl 0 resume "$p"
take a queue
hold "$p"
tell a close
wait "$p"
[ $? -eq 0 ] || fail "it did not end well"
expect_nothing_left "$p"

step "the first thread ends while it is held: it runs, and cannot be held again"
steps_start b open init queue
p=$(pid b)
hold "$p"
take b leader
wait_for 5 running "$p"
wait_for 5 nothing_held
wait_for 5 no_holder
take b fork
ctl 3 suspend "$p"
says_what_to_do 'first thread'
ctl 3 preempt "$p" --count 1
says_what_to_do 'first thread'
running "$p" || fail "it does not run"
tell b close
wait "$p"
expect_nothing_left "$p"
