# SPDX-License-Identifier: GPL-2.0-only
# A pause with a lease, or of a command in the foreground: keepers undo it.
# timeout: 120
# driver: any
. /t/steps.sh

# Only processes of that name that live.
keepers() {
	for _d in /proc/[0-9]*; do
		{ read -r _comm < "$_d/comm"; } 2> /dev/null || continue
		[ "$_comm" != gpreempt-pause ] || gone "${_d#/proc/}" || echo "${_d#/proc/}"
	done
}

no_keeper() {
	[ -z "$(keepers)" ]
}

expect_unpaused() {
	wait_for 15 running "$(pid a)"
	wait_for 15 no_keeper
	wait_for 15 nothing_held
	[ -z "$(ls /run/gpreempt)" ] || fail "left behind: $(ls /run/gpreempt)"
	expect_progress a
}

start a --queues 2 --packet 1ms
p=$(pid a)

step "a lease"
ctl 0 suspend "$p" --how pause --for 6s
says "^keepers [0-9]+ and [0-9]+, lease: "
[ "$(keepers | wc -l)" -eq 2 ] || fail "not two keepers: $(keepers)"
expect_no_progress a
ctl 0 status
says "^${p}[[:space:]]"
ctl 7 suspend "$p" --how pause
says_what_to_do 'held by gpreempt-ctl pause'
ctl 0 repair
says "^${p}[[:space:]]+owned[[:space:]]+nothing"
view_is "$p" evicted 1 || fail "repair has undone it"
expect_unpaused

step "resume before its end"
ctl 0 suspend "$p" --how pause --for 5m
ctl 0 resume "$p"
says "^resumed $p: its keepers have ended"
expect_unpaused

step "the target ends while it is paused"
ctl 0 suspend "$p" --how pause --for 5m
kill -9 "$p"
wait "$p"
wait_for 15 no_keeper
expect_nothing_left "$p"
start a --queues 2 --packet 1ms
p=$(pid a)

for signal in INT KILL; do
	step "in the foreground, until SIG$signal"
	gpreempt-ctl suspend "$p" --how pause --foreground > "$W/fg" 2>&1 &
	c=$!
	wait_for 15 grep -q 'until this command ends' "$W/fg"
	expect_no_progress a
	kill -$signal $c
	wait $c
	expect_unpaused
done
stop a
