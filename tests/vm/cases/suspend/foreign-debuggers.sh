# SPDX-License-Identifier: GPL-2.0-only
# Other debuggers: before us, after us, the target that debugs itself, and who
# ends our session.
# race: other debuggers come between a holder and its target
# timeout: 90
. /t/steps.sh

steps_start a open init queue queue
p=$(pid a)
step "another process traces it and has a session: refused; gone: no trace of it"
for kind in plain kfd; do
	debugger "$p" $kind > "$W/debugger" 2>&1 &
	d=$!
	started="$started $d"
	wait_for 15 grep -q attached "$W/debugger"
	ctl 7 suspend "$p"
	says_what_to_do "traced by process $d"
	kill -9 $d
	wait $d
	hold "$p"
	ctl 0 resume "$p"
done

step "it debugs itself: refused, and its session goes on"
take a debug
ctl 7 suspend "$p"
says_what_to_do 'debug session'
ctl 7 preempt "$p" --count 1
not_traced "$p" || fail "it is still traced"
take a undebug

step "while it is held: no other debugger gets at it"
hold "$p"
worker=$(holder_of "$p")
for kind in plain kfd; do
	debugger "$p" $kind > "$W/debugger" 2>&1
	[ $? -eq 1 ] || fail "a second tracer"
	cat "$W/debugger"
done
refused a debug 'already in progress'
expect_suspended "$p"
ctl 0 resume "$p"
expect_free a

step "it ends our session, which needs no right: we notice and suspend again"
hold "$p"
worker=$(holder_of "$p")
take a undebug
wait_for 5 view_is "$p" suspended 1
sleep 0.3
expect_suspended "$p"
[ "$(holder_of "$p")" = "$worker" ] || fail "the holder gave up"
step "again and again: we give up and report it, its queues run"
again_or_free() { view_is "$p" suspended 1 || nothing_held; }
for _ in 1 2 3 4 5 6 7 8; do
	n=$(grep -cE '^(done|failed) ' "$W/a.out")
	tell a undebug
	wait_for 5 steps_taken a $((n + 1))
	wait_for 5 again_or_free
done
wait_for 20 nothing_held
expect_free a
tell a close
wait "$p" || fail "ended with $?"
expect_nothing_left "$p"
