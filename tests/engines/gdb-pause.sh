# SPDX-License-Identifier: GPL-2.0-only
# Debian's gdb beside a hold by a pause: it attaches, and the hold cannot end before it has
# detached; then it does, also when its lease was over or its holder killed.
# timeout: 240
. /t/lib.sh
. /t/engines.sh
. /t/debuggers.sh

start a --queues 2 --packet 1ms
p=$(pid a)

step "gdb has attached: refused, nothing is changed"
gdb_start "$p"
ctl 7 suspend "$p" --how pause
says_what_to_do "traced by process [0-9]+ \(gdb\)"
gdb_end
wait_for 15 not_traced "$p"
expect_progress a

step "during a hold: gdb attaches, and a resume has to wait for it"
ctl 0 suspend "$p" --how pause
gdb_start "$p"
ctl 7 resume "$p"
says_what_to_do "traced by process [0-9]+ \(gdb\)"
says 'end that debugger'
off "$p" || fail "the hold is over"
gdb_end
wait_for 15 not_traced "$p"
expect_no_progress a
ctl 0 resume "$p"
wait_for 15 running "$p"

step "the lease ends meanwhile: the queues run when gdb has detached"
ctl 0 suspend "$p" --how pause --for 2s
gdb_start "$p"
sleep 3
off "$p" || fail "the hold is over"
gdb_end
wait_for 15 running "$p"
expect_progress a

step "gdb is killed, and the holder before it"
ctl 0 suspend "$p" --how pause
gdb_start "$p"
kill -9 "$(holder_of "$p")"
kill -9 "$gdb"
wait_for 15 running "$p"
expect_progress a
nothing_left
stop a
