# SPDX-License-Identifier: GPL-2.0-only
# Which capabilities a pause takes: those to trace and to checkpoint, no others.
# timeout: 60
# driver: any
. /t/pause.sh

PTRACE=19 CHECKPOINT=40 ADMIN=21
start a --queues 1 --packet 1ms
p=$(pid a)
wait_for 15 running "$p"

# as CAPS STATUS COMMAND
as() {
	with-cap "$1" gp-pause "$3" "$p" > "$W/gp" 2>&1
	_got=$?
	sed 's/^/   /' "$W/gp"
	[ $_got -eq "$2" ] || fail "with $1: ended with $_got, not $2"
}

step "not enough: nothing is done"
as none 4 pause
as $CHECKPOINT 4 pause
printed "does not let us trace"
as $PTRACE 4 pause
printed "CAP_CHECKPOINT_RESTORE"
expect_view "$p" evicted 0

step "enough"
for caps in $PTRACE,$CHECKPOINT $PTRACE,$ADMIN; do
	as $caps 0 pause
	expect_paused "$p"
	as $caps 0 unpause
	wait_for 15 running "$p"
done

step "another user's process: its descriptors are not ours to list"
as-user gp-pause pause "$p" > "$W/gp" 2>&1
[ $? -eq 4 ] || fail "not refused: $(cat "$W/gp")"
expect_view "$p" evicted 0
expect_progress a
stop a
