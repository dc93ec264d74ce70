# SPDX-License-Identifier: GPL-2.0-only
# suspend --foreground holds for as long as its command lives: however that ends,
# the queues run and no holder is left.
# timeout: 120
. /t/steps.sh

start a --queues 2 --packet 1ms
start b --packet 1ms
p=$(pid a) q=$(pid b)

# foreground ARGS...: sets $c, its PID.
foreground() {
	: > "$W/fg"
	setsid sh -c 'trap - INT QUIT; exec gpreempt-ctl suspend --foreground "$@"' sh "$@" \
		> "$W/fg" 2>&1 &
	c=$!
	started="$started $c"
	wait_for 15 grep -q '^holder' "$W/fg"
}

both_free() {
	wait_for 15 running "$q"
	expect_free a
	wait_for 5 gone "$c"
}

for sig in INT TERM HUP QUIT KILL; do
	step "ended by SIG$sig"
	foreground "$p" "$q"
	wait_for 5 view_is "$p" suspended 1
	wait_for 5 view_is "$q" suspended 1
	kill -$sig "$c"
	wait "$c"
	status=$?
	case $sig in
	KILL) [ $status -eq 137 ] ;;
	*) [ $status -eq 0 ] ;;
	esac || fail "ended with $status"
	both_free
done

step "its terminal is closed"
: > "$W/fg"
on-terminal gpreempt-ctl suspend --foreground "$p" > "$W/fg" 2>&1 &
terminal=$!
started="$started $terminal"
wait_for 15 grep -q '^holder' "$W/fg"
expect_suspended "$p"
kill $terminal
expect_free a

step "the terminal of a preempt is closed in the middle of a hold"
on-terminal gpreempt-ctl preempt "$p" --hold 20s > "$W/fg" 2>&1 &
terminal=$!
started="$started $terminal"
wait_for 15 view_is "$p" suspended 1
kill $terminal
expect_free a

step "Ctrl-C"
mkfifo "$W/keys"
: > "$W/fg"
on-terminal gpreempt-ctl suspend --foreground "$p" 0<> "$W/keys" > "$W/fg" 2>&1 &
terminal=$!
wait_for 15 grep -q '^holder' "$W/fg"
printf '\003' > "$W/keys"
wait $terminal || fail "ended with $?"
expect_free a

step "its lease is over, or another command resumes it: the command ends"
foreground "$p" --for 2s
wait "$c" || fail "ended with $?"
expect_free a
foreground "$p"
ctl 0 status
says "^$p[[:space:]].*foreground"
ctl 0 resume "$p"
wait "$c" || fail "ended with $?"
expect_free a

step "its target ends: so does the command"
start d --packet 1ms
foreground "$(pid d)"
kill -9 "$(pid d)"
wait_for 5 gone "$c"
wait_for 5 no_holder

step "a holder is there already: busy"
hold "$p"
ctl 7 suspend --foreground "$p"
says_what_to_do "held by gpreempt-ctl suspend"
expect_suspended "$p"
release_target "$p"

step "a suspend joins it, and ends with it"
foreground "$p" --queues 0
ctl 0 suspend "$p"
says 'it ends with'
expect_suspended "$p"
kill "$c"
expect_free a
stop a
stop b
