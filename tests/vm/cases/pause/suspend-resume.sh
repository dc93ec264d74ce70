# SPDX-License-Identifier: GPL-2.0-only
# suspend --how pause: others can attach, resume from anywhere; a part of a process is
# refused; auto takes what works.
# tier: gate
# timeout: 120
# driver: any
. /t/steps.sh

start a --queues 3 --packet 5ms
p=$(pid a)

step "what a pause cannot do is refused, and nothing is changed"
for option in '--queues 0' '--priority 7' '--gpu 1' '--grace 50us'; do
	# shellcheck disable=SC2086
	ctl 2 suspend "$p" --how pause $option
	says_what_to_do 'how pause'
done
ctl 2 suspend "$p" --how perhaps
expect_progress a

step "paused: it is not traced, and its holder is there"
ctl 0 suspend "$p" --how pause
says "^paused $p: 3 queues, .*verified: yes"
expect_view "$p" evicted 1
expect_view "$p" active 0
not_traced "$p" || fail "it is traced"
first=$(holder_of "$p") second=$(guardian_of "$p")
alive "$first" && alive "$second" || fail "no holder"
[ "$(stat -c %a "/run/gpreempt/$p.pause")" = 600 ] || fail "others can read the journal"
expect_no_progress a
ctl 0 status
says "^${p}[[:space:]].*gpreempt-ctl resume $p.*pause"
ctl 0 status --json
says '"how": "pause"'
gpreempt-ctl doctor "$p" > "$W/ctl" 2>&1
says "process $p is paused by gpreempt-ctl"

step "repair leaves it to its holder"
ctl 0 repair
says "^${p}[[:space:]]+owned[[:space:]]+nothing"
expect_no_progress a

step "no session on top of it, and a debugger can attach"
ctl 7 suspend "$p" --how debug
says_what_to_do 'held already'
ctl 7 preempt "$p" --count 1
says_what_to_do 'is held by gpreempt-ctl suspend'
debugger "$p" > "$W/debugger" 2>&1 &
d=$!
wait_for 15 grep -q attached "$W/debugger"
step "which is in the way of the resume: it stays paused, and in the journal"
ctl 7 resume "$p"
says_what_to_do "traced by process $d"
[ -e "/run/gpreempt/$p.pause" ] || fail "the entry is gone"
kill -9 $d
wait $d
expect_no_progress a
step "again: a new lease; the holder ends with the resume"
ctl 0 suspend "$p" --for 10m
says 'it was held already'
ctl 2 resume "$p" --queues 0
ctl 0 resume "$p"
says "^resumed $p: 3 queues"
wait_for 15 gone "$first"
wait_for 15 gone "$second"
expect_free a
expect_progress a
ctl 0 resume "$p"
says 'not held'
[ -z "$(ls /run/gpreempt)" ] || fail "left behind: $(ls /run/gpreempt)"
stop a

# Why the debug ioctl cannot serve that program.
why=runtime
has_debug_trap || why='1[.]13'
step "a program without the runtime: auto pauses it, and prints why"
start b --packet 5ms --no-runtime
q=$(pid b)
ctl 3 suspend "$q" --how debug
says_what_to_do "$why"
ctl 0 suspend "$q"
says "^note: .*$why.*so it is paused"
says "^paused $q: "
expect_no_progress b
ctl 0 resume "$q"
ctl 0 suspend "$q" --how auto --json
says '"how": "pause"'
says "\"not_debug_because\": \".*$why"
ctl 0 resume "$q"
expect_progress b
step "not when a part is asked for"
ctl 3 suspend "$q" --queues 0
expect_progress b
stop b

step "auto uses the debug ioctl where it can"
start c --packet 5ms
ctl 0 suspend "$(pid c)"
if has_debug_trap; then
	says "^suspended $(pid c): "
else
	says "^paused $(pid c): "
fi
ctl 0 resume "$(pid c)"
stop c
