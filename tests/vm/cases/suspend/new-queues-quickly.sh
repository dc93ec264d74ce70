# SPDX-License-Identifier: GPL-2.0-only
# Queues that a held process makes are acknowledged and suspended in a few ms,
# and what hsa_init and hsa_shut_down do is answered, so that it never blocks.
# tier: gate
# timeout: 90
. /t/steps.sh

# The suspend itself takes its time too, and more when the run list is long. Without an
# event the holder would never look: with nothing held it has no timer.
caught_within() {
	for _ in 1 2 3 4; do
		take a caught > /dev/null
		us=$(said a caught)
		echo "a new queue was suspended after $us us; the limit is $1 us"
		[ "$us" -le "$1" ] || fail "too late"
	done
}

step "what a suspend takes here"
start b --packet 1ms
ctl 0 preempt "$(pid b)" --count 20 --hold 1ms --interval 1ms
suspend_us=$(sed -n 's/^suspend_ioctl_us .*p50=\([0-9]*\).*/\1/p' "$W/ctl")
stop b

step "held before it has a runtime or a queue"
steps_start a open
p=$(pid a)
ctl 0 suspend "$p"
says "has no queues now"
take a init
[ "$us" -le $((500000 * SLOW)) ] || fail "enabling the runtime blocked for $us us"
# The counted CPU has 250 million instructions a second: 12 ms were seen there.
caught_within $((30000 * SLOW + 4 * suspend_us))
expect_suspended "$p"

step "its queues' end, runtime off, on, and queues again, three times"
for _ in 1 2 3; do
	take a destroy
	[ "$us" -le $((1000000 * SLOW)) ] || fail "destroying the queues blocked for $us us"
	take a shut
	[ "$us" -le $((500000 * SLOW)) ] || fail "disabling the runtime blocked for $us us"
	take a init
	[ "$us" -le $((500000 * SLOW)) ] || fail "enabling the runtime blocked for $us us"
	take a caught
done
expect_suspended "$p"
worker=$(holder_of "$p")
[ -n "$worker" ] || fail "the holder is gone"

step "released with the runtime off"
take a destroy
take a shut
ctl 0 resume "$p"
wait_for 5 not_traced "$p"
take a init
take a queue
running "$p" || fail "its queue does not run"
tell a close
wait "$p" || fail "ended with $?"
expect_nothing_left "$p"
