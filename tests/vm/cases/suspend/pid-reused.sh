# SPDX-License-Identifier: GPL-2.0-only
# A PID that was reused is not taken for its predecessor, neither a target's nor
# a holder's.
# timeout: 90
. /t/steps.sh

step "target and holder killed together: the next with that PID is free"
kill_both() {
	start a --packet 1ms
	p=$(pid a)
	hold "$p"
	worker=$(holder_of "$p") guardian=$(guardian_of "$p")
	kill -9 "$guardian" "$worker" "$p"
	wait "$p"
	wait_for 5 gone "$guardian"
	wait_for 5 gone "$worker"
}
kill_both
# With no lock file left nothing would be tested.
until [ -e "/run/gpreempt/$p.lock" ] && again "$p" b; do kill_both; done
expect_progress b
ctl 0 resume "$p"
says 'not held'
hold "$p"
ctl 0 status
says "^$p[[:space:]]"
release_target "$p"

step "a process with the PID of a dead holder is a target like any other"
kill_holder() {
	hold "$p"
	worker=$(holder_of "$p") guardian=$(guardian_of "$p")
	kill -9 "$guardian" "$worker"
	wait_for 5 running "$p"
	wait_for 5 gone "$worker"
}
kill_holder
until again "$worker" c; do kill_holder; done
hold "$worker"
release_target "$worker"

step "a request that was meant for the predecessor is refused"
kill_target() {
	hold "$p"
	started=$(awk '{ print $22 }' "/proc/$p/stat")
	kill -9 "$p"
	wait "$p"
	wait_for 5 no_holder
}
kill_target
until again "$p" d; do
	start e --packet 1ms
	p=$(pid e)
	kill_target
done
hold "$p"
[ "$(awk '{ print $22 }' "/proc/$p/stat")" != "$started" ] || fail "the same start time"
release_target "$p"
kill -9 "$(pid c)"
stop d
