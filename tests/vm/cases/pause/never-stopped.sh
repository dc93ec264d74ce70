# SPDX-License-Identifier: GPL-2.0-only
# Many pauses of a process that gets signals meanwhile: it is never stopped but
# by SIGSTOP, never traced afterwards, and each packet and copy is done once.
# timeout: 120
# driver: any
# vgpu: gpus=2
. /t/pause.sh

start a --queues 3 --sdma 1 --packet 200us
p=$(pid a)
wait_for 15 running "$p"

step "without signals: never seen stopped"
cycles "$p" 100
expect_progress a

step "SIGSTOP and SIGCONT between: they count as without us"
gp-pause cycle "$p" 40 > "$W/cycle" 2>&1 &
c=$!
while alive $c; do
	kill -STOP "$p"
	wait_for 5 grep -Eq '^State:.[Tt]' "/proc/$p/status"
	kill -CONT "$p"
	wait_for 5 grep -Eq '^State:.[RSD]' "/proc/$p/status"
done
wait $c || fail "cycles ended with $?: $(cat "$W/cycle")"
cat "$W/cycle"
wait_for 15 running "$p"
expect_progress a
stop a
