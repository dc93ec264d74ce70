# SPDX-License-Identifier: GPL-2.0-only
# Offline processes without work are not suspended, and cost an arrival nothing: eight that are
# stopped beside one that works. One of them goes on: it makes way from then on.
# timeout: 180
. /t/lib.sh
. /t/guard.sh

N=8

# times_suspended PID
times_suspended() { said_times "^suspended $1: arrival"; }
# all are without work: none was suspended at the last two arrivals of the busy one
all_idle() {
	tail -n 4 "$W/guard" | grep -q "^suspended $(pid busy): arrival" || return 1
	tail -n 4 "$W/guard" | grep "^suspended " | grep -qv "^suspended $(pid busy):" && return 1
	more_times "^suspended $(pid busy): arrival" 4
}

step "eight without work, and one that works"
i=0 idle=''
while [ $i -lt $N ]; do
	start idle$i --packet 10ms
	idle="$idle $(pid idle$i)"
	i=$((i + 1))
done
start busy --packet 10ms
start on --packet 50ms --rate 1
kill -STOP $idle
# What they had submitted is done.
sleep 2
guard --online "$(pid on)" --offline "$(pid busy)" $idle --verbose --poll 1ms
wait_for 60 all_idle

step "ten arrivals"
before=$(times_suspended "$(pid busy)") others=$(said_times '^suspended ')
others=$((others - before))
wait_for 60 more_times "^suspended $(pid busy): arrival" $((before + 10))
[ $(($(said_times '^suspended ') - $(times_suspended "$(pid busy)"))) -eq $others ] ||
	fail "one without work was suspended: $(grep '^suspended ' "$W/guard" | tail -n 20)"
# While the driver changes the run list for the busy one, a look shows none of their slots.
# shellcheck disable=SC2086 # PIDs
for p in $idle; do
	view_is "$p" suspended 0 || fail "process $p is held: $(cat "$VIEW/$p/queues")"
	wait_for 15 running "$p"
done

step "one of them goes on"
one=$(pid idle3)
before=$(times_suspended "$one")
kill -CONT "$one"
wait_for 30 more_times "^suspended $one: arrival" $((before + 3))
kill -CONT $idle
expect_progress busy
end_guard
nothing_held || fail "something is held"
wait_for 15 running "$one"
for p in $idle; do
	wait_for 15 running "$p"
done
