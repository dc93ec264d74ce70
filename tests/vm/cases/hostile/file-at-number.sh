# SPDX-License-Identifier: GPL-2.0-only
# A tenant puts a file at the number that its /dev/kfd had. Each process that takes a
# copy of the descriptor waits for that file when it closes the copy.
# timeout: 240
. /t/pause.sh
. /t/hostile.sh

silent_files
start a --queues 2 --packet 1ms --attack number="$file"
p=$(pid a)

step "while it is paused again and again"
gp-pause cycle "$p" 400 > "$W/cycle" 2>&1 &
c=$!
sleep 1
kill -HUP "$p"
wait_for 60 gone "$c"
cat "$W/cycle"
grep -q 'one of its files does not answer' "$W/cycle" || fail "it was not refused"
gp-pause unpause "$p" > "$W/unpause" || cat "$W/unpause"
expect_progress a

step "and then it is paused by its new number"
cycles "$p" 20
expect_progress a
answers
stop a
wait_for 10 nothing_of_ours

# Refused by name, or paused; in time, and in either case nothing stays.
step "the descriptor gets another number all the time"
start b --queues 2 --packet 1ms --attack move=none
p=$(pid b)
kill -HUP "$p"
for _ in 1 2 3 4 5 6; do
	timeout 20 gpreempt-ctl suspend "$p" --how pause > "$W/ctl" 2>&1
	case $? in
	0) gpreempt-ctl resume "$p" > "$W/resume" 2>&1 ;;
	3|7) says_what_to_do "process $p" ;;
	*) fail "suspend ended with another status: $(cat "$W/ctl")" ;;
	esac
done
wait_for 20 grep -q attacked "$W/b.out"
ctl 0 resume "$p"
ctl 0 repair
says 'nothing is paused'
ctl 0 suspend "$p" --how pause
release_target "$p"
stop b
