# SPDX-License-Identifier: GPL-2.0-only
# The ends of a held process where the driver waits for an interrupt when a debug
# session ends (drain 2), and where that interrupt never comes (drain 1, seen on
# gfx 9.4.3): who still has the session open then would hang for ever, unkillable.
# They end within 100 ms all the same.
# timeout: 120
# The virtual GPU has no partitions, so this driver shifts by a node's number of 255:
# allow-log: UBSAN: shift-out-of-bounds in .*/kfd_priv\.h
. /t/steps.sh

step "the driver writes what it has to say of that once"
switch 0 drain 2
steps_start a open init queue
hold "$(pid a)"
ctl 0 resume "$(pid a)"
tell a close
wait "$(pid a)"
wait_for 5 no_kfd_process

for drain in 2 1; do
	switch 0 drain $drain
	step "drain $drain"
	for entry in exit:0 close:0 thread-exit:0 abort:134 SIGTERM:143 SIGKILL:137; do
		ends_in_time suspended "${entry%:*}" "${entry#*:}"
	done
	step "drain $drain: released"
	steps_start a open init queue
	p=$(pid a)
	hold "$p"
	ctl 0 resume "$p"
	expect_free a
	end_time a tell a close
	[ $status -eq 0 ] && [ "$took" -le $((100 * SLOW)) ] || fail "status $status after ${took}0 ms"
done
wait_for 5 no_kfd_process
