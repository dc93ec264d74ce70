# SPDX-License-Identifier: GPL-2.0-only
# Each exit status that --help lists, from what causes it.
# tier: gate
# timeout: 90
. /t/lib.sh

start a --queues 1 --packet 5ms
start b --queues 1 --packet 5ms
a=$(pid a) b=$(pid b)

step "0: done, and done already"
ctl 0 suspend "$a"
ctl 0 suspend "$a"
ctl 0 resume "$a"
ctl 0 resume "$a"
says 'not held'
ctl 0 --help
for n in 0 1 2 3 4 5 6 7; do
	says "(^|[ ,])$n [a-z]"
done
ctl 0 --version

step "1: failed"
gpreempt-ctl queues "$a" > /dev/full 2> "$W/ctl"
[ $? -eq 1 ] || fail "a full disk: status"
says_what_to_do 'cannot write the output: No space'
gpreempt-ctl queues "$a" | true

step "2: wrong usage"
ctl 2 suspend "$a" --for 5x
ctl 2 queues "$a" --priority '<0'
says_what_to_do 'from 0 to 15'
ctl 2 queues cmd:'('
says_what_to_do 'regular expression'

step "3: not supported here"
mv /dev/kfd /dev/kfd.away
ctl 3 suspend "$a"
mv /dev/kfd.away /dev/kfd

step "4: no permission"
as-user gpreempt-ctl suspend "$a" > "$W/ctl" 2>&1
[ $? -eq 4 ] || fail "ordinary user: status"

step "5: no such GPU process"
ctl 5 queues $$
says_what_to_do 'not a GPU process'

step "7: busy; 6: one of two is"
debugger "$b" plain > "$W/debugger" 2>&1 &
d=$!
started="$started $d"
wait_for 15 grep -q attached "$W/debugger"
ctl 7 suspend "$b"
ctl 6 suspend "$a" "$b"
says "^suspended $a: 1 queue,"
says "process $b is traced by process $d"
ctl 0 resume "$a"
kill -9 $d
wait $d
stop a
stop b
