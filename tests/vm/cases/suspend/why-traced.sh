# SPDX-License-Identifier: GPL-2.0-only
# Why a session traces its target as long as it lasts, although the driver asks for the
# trace only when the session is opened: it keeps others out. With an owner that has
# detached, a second debugger that only tries to open a session gets the owner's place:
# the owner cannot resume, and its end resumes nothing. Where the driver does not do
# that, this case skips, and the trace could be left out there.
# timeout: 60
. /t/lib.sh

start a --queues 2 --packet 1ms
p=$(pid a)
takeover "$p" > "$W/takeover" 2>&1 &
t=$!
started="$started $t"

ends_or_waits() {
	grep -q '^waits' "$W/takeover" || gone $t
}

wait_for 20 ends_or_waits
cat "$W/takeover"
if grep -q '^suspend by the first: Operation not permitted' "$W/takeover"; then
	skip "this driver answers only who traces: no owner can detach"
fi
grep -q '^suspend by the first: 2' "$W/takeover" || fail "an owner that detached cannot suspend"
if grep -q '^resume by the first: 2' "$W/takeover"; then
	kill -USR1 $t
	skip "a second debugger does not get the owner's place: a session could detach here"
fi

step "the second debugger has no session, and the first one's end resumes nothing"
grep -q '^session of the second: Operation already in progress' "$W/takeover" ||
	fail "the second one has a session"
grep -q '^resume by the first: Operation not permitted' "$W/takeover" || fail "not refused"
expect_suspended "$p"
expect_no_progress a
kill -USR1 $t
wait $t || fail "the second cannot end it: $(cat "$W/takeover")"
wait_for 15 running "$p"

step "while we hold it, no other traces it, so no other gets our place"
hold "$p"
takeover "$p" > "$W/takeover" 2>&1
grep -q '^session of the first: Operation not permitted' "$W/takeover" ||
	fail "another debugger came in: $(cat "$W/takeover")"
expect_suspended "$p"
release_target "$p"
stop a
