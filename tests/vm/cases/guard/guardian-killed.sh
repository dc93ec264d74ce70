# SPDX-License-Identifier: GPL-2.0-only
# guard by pause: the worker of a target and its guardian are killed at once. The target
# runs by itself within two seconds, and guard takes it again.
# timeout: 120
. /t/steps.sh
. /t/guard.sh

start a --queues 2 --packet 5ms
start b --queues 2 --packet 5ms
p=$(pid a)
guard --online comm:none --offline "$p" "$(pid b)" --how pause --max-hold 60s --verbose
wait_for 20 said "process $p is offline"
wait_for 20 said "process $(pid b) is offline"
ctl 0 guard begin
wait_for 5 view_is "$p" evicted 1
wait_for 5 view_is "$(pid b)" evicted 1

# What lets the target PID run when its worker dies.
guardian_of_worker() {
	for _k in $(pidof gpreempt-pause); do
		tr '\0' ' ' < "/proc/$_k/cmdline" | grep -q "guardian of $1 *\$" && echo "$_k"
	done
}

step "both"
worker=$(holder_of "$p")
guardian=$(guardian_of_worker "$p")
[ "$(echo "$guardian" | wc -w)" -eq 1 ] || fail "not one guardian: $guardian"
t0=$(uptime_cs)
kill -9 "$worker" "$guardian"
# No poll is missed: guard takes it again a second later.
runs=0
while [ $(($(uptime_cs) - t0)) -le $((200 * SLOW)) ] && [ $runs -eq 0 ]; do
	view_is "$p" evicted 1 || runs=1
done
[ $runs -eq 1 ] || fail "it is still paused: $(cat "$W/guard")"
echo "it ran after $(($(uptime_cs) - t0))0 ms"
wait_for 5 said "process $p is left alone"
view_is "$(pid b)" evicted 1 || fail "the other one runs"
wait_for 30 view_is "$p" evicted 1
said "paused by gpreempt-ctl suspend" && fail "guard took its own pause for another's"

step "guard ends: nothing is left"
end_guard
for l in a b; do
	wait_for 15 running "$(pid $l)"
	expect_progress $l
	stop $l
done
ctl 0 repair
says 'nothing is paused'
[ -z "$(ls /run/gpreempt)" ] || fail "left behind: $(ls /run/gpreempt)"
