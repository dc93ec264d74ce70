# SPDX-License-Identifier: GPL-2.0-only
# A pause with a lease, or of a command in the foreground: its holder undoes it.
# timeout: 120
# driver: any
. /t/steps.sh

expect_unpaused() {
	wait_for 15 running "$(pid a)"
	wait_for 15 no_holder
	wait_for 15 nothing_held
	[ -z "$(ls /run/gpreempt)" ] || fail "left behind: $(ls /run/gpreempt)"
	expect_progress a
}

start a --queues 2 --packet 1ms
p=$(pid a)

step "a lease, which a second suspend sets again"
ctl 0 suspend "$p" --how pause --for 1m
says "^holder [0-9]+, guardian [0-9]+, lease: "
expect_no_progress a
ctl 0 status
says "^${p}[[:space:]].*pause"
ctl 0 suspend "$p" --how pause --for 6s
says 'it was held already'
ctl 0 repair
says "^${p}[[:space:]]+owned[[:space:]]+nothing"
view_is "$p" evicted 1 || fail "repair has undone it"
expect_unpaused

step "resume before its end"
ctl 0 suspend "$p" --how pause --for 5m
ctl 0 resume "$p"
says "^resumed $p: 2 queues"
expect_unpaused

step "the target ends while it is paused"
ctl 0 suspend "$p" --how pause --for 5m
kill -9 "$p"
wait "$p"
wait_for 15 no_holder
expect_nothing_left "$p"
start a --queues 2 --packet 1ms
p=$(pid a)

for signal in INT KILL; do
	step "in the foreground, until SIG$signal"
	gpreempt-ctl suspend "$p" --how pause --foreground > "$W/fg" 2>&1 &
	c=$!
	wait_for 15 grep -q 'ends with gpreempt-ctl suspend --foreground' "$W/fg"
	expect_no_progress a
	kill -$signal $c
	wait $c
	expect_unpaused
done
stop a
