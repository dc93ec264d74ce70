# SPDX-License-Identifier: GPL-2.0-only
# Debian's gdb beside a hold by a debug session: first, during it and after it.
# timeout: 200
. /t/lib.sh
. /t/engines.sh
. /t/debuggers.sh

start a --queues 2 --packet 1ms
p=$(pid a)

step "gdb has attached: refused, nothing is changed"
gdb_start "$p"
ctl 7 suspend "$p" --how debug
says_what_to_do "traced by process [0-9]+ \(gdb\)"
says 'end that debugger'
gdb_end
wait_for 15 not_traced "$p"
expect_progress a

step "during a hold: gdb says that it may not, and the hold stays"
ctl 0 suspend "$p" --how debug
says "^suspended $p: .*verified: yes"
gdb_refused "$p"
expect_no_progress a

step "after it: gdb attaches, and lets it run"
ctl 0 resume "$p"
wait_for 15 running "$p"
gdb_start "$p"
gdb_end
wait_for 15 not_traced "$p"
expect_progress a
nothing_left
stop a
