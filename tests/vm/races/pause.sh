# SPDX-License-Identifier: GPL-2.0-only
# A pause with a holder, a resume by another command, one or both of its processes killed, repair and
# the next pause at once: it is never left behind paused, and no journal stays.
# timeout: 60
. /t/races.sh

start a --queues 2 --packet 1ms --rate 50
p=$(pid a)
chaos_begin

pause() {
	run suspend "$p" --how pause --for 10m
}

# So that the next step can begin with a pause.
freed() {
	run resume "$p"
	ended 0
}

step "pause, resume, pause"
for _ in 1 2; do
	pause
	later 30
	run resume "$p"
	later 30
	pause
	ended 0 7
done

freed

step "resume and repair, and worker or guardian is killed"
pause
ended 0
run resume "$p"
draw 2
[ "$drawn" -eq 0 ] && who=holder || who=guardian
kill_holder "$p" $who
run repair
ended 0

freed

step "both are killed: repair and the next pause at once"
pause
ended 0
set -- $(gpreempt-ctl status | awk -v pid="$p" '$1 == pid { print $2, $3 }')
kill -9 "$@"
run repair
later 20
pause
later 20
run repair
ended 0 7
freed

step "the lease is over while it is resumed"
run suspend "$p" --how pause --for 30ms
later 60
run resume "$p"
ended 0 7

# The lease may have begun after the resume.
expect_free a
ctl 0 repair
says 'nothing is paused'
all_free a
