# SPDX-License-Identifier: GPL-2.0-only
# Users of guard's socket, without the checks of gpreempt-ctl: one that is not
# in --allow-uid, and one that is and asks for more than it may.
# tier: gate
# timeout: 90
. /t/lib.sh

ask() {
	want=$1
	shift
	ask-guard "$@" > "$W/ask" 2>&1
	got=$?
	[ $got -eq "$want" ] || fail "ask-guard $*: $got in place of $want: $(cat "$W/ask")"
}

answers() {
	grep -q -e "$1" "$W/ask" || fail "no '$1': $(cat "$W/ask")"
}

guarded() {
	! grep -q 'TracerPid:[[:space:]]*0$' "/proc/$p/status"
}

start off --queues 1 --packet 5ms
p=$(pid off)
setsid gpreempt-ctl guard --max-hold 60s --online comm:none --offline "$p" \
	--allow-uid 1000 > "$W/guard" 2>&1 &
g=$!
started="$started $g"
wait_for 20 guarded

step "a stranger is refused by the kernel, a thousand times"
ask 4 65534 begin 0 0 1000
answers 'Permission denied'
ctl 0 guard begin
says "1 requests open"
wait_for 15 view_is "$p" suspended 1
ctl 0 guard end
wait_for 15 running "$p"

step "and by guard, where the socket would let it in"
chmod 0666 /run/gpreempt-guard.sock
ask 0 65534 begin 0 0
answers '^refused code=-13$'
ask 0 65534 release "$p" 1000000000
answers '^refused code=-13$'

step "an allowed user may begin, and may not release or speak for others"
ask 0 1000 begin 0 0
answers '^reply code=0 value=1$'
ask 0 1000 release "$p" 18446744073709551615
answers '^reply code=-13 value=0$'
ask 0 1000 begin "$p" 0
answers '^reply code=-13 value=0$'
# A release takes guard a step: one that worked would be seen by then.
ctl 0 guard begin
wait_for 15 view_is "$p" suspended 1
guarded || fail "an allowed user had it released"
ctl 0 guard end

step "root may"
ask 0 0 release "$p" 18446744073709551615
answers '^reply code=0 value=0$'
released() { ! guarded; }
wait_for 15 released
kill -TERM "$g"
wait "$g" || fail "guard ended with $?: $(cat "$W/guard")"
[ ! -e /run/gpreempt-guard.sock ] || fail "its socket is left behind"
[ ! -e /run/gpreempt-guard.sock.lock ] || fail "its lock is left behind"
stop off
