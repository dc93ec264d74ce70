# SPDX-License-Identifier: GPL-2.0-only
# Not root: status 4 and what to do, and nothing happens to the target. Reading
# gives what everybody may know, and says what is missing.
# timeout: 90
. /t/lib.sh

start a --packet 1ms
p=$(pid a)
for command in "suspend $p" "resume $p" "preempt $p --count 1"; do
	step "$command"
	# shellcheck disable=SC2086
	as-user gpreempt-ctl $command > "$W/ctl" 2>&1
	status=$?
	cat "$W/ctl"
	[ $status -eq 4 ] || fail "status $status"
	says_what_to_do 'root|sudo|permission'
done

step "queues $p"
chmod 700 "$DEBUGFS"
as-user gpreempt-ctl queues "$p" > "$W/ctl" 2>&1 || fail "status $?"
cat "$W/ctl"
says 'root|debugfs'
grep -Eq "^$p	0	0	[^	]*	0x[0-9a-f]+	" "$W/ctl" || fail "not even the queue's id and GPU"
expect_progress a
stop a
