# SPDX-License-Identifier: GPL-2.0-only
# A process executes another program that uses the GPU, held or not, and is
# suspended right after: kernels to 6.18 crash when a debug session is enabled
# before that program has opened /dev/kfd. It must never come to that.
# race: a session begins while its target executes another program
# timeout: 90
. /t/steps.sh

# suspended at last: $n tries
until_suspended() {
	n=0
	_end=$(($(uptime_cs) + 2000 * SLOW))
	until timeout $((20 * PACE)) gpreempt-ctl suspend "$p" > "$W/ctl" 2>&1; do
		status=$?
		case $status in 1|3|5) ;; *) fail "suspend ended with $status: $(cat "$W/ctl")" ;; esac
		n=$((n + 1))
		[ "$(uptime_cs)" -lt $_end ] || fail "never suspended: $(cat "$W/ctl")"
	done
	echo "   suspended after $n refusals"
}

for held in yes no yes no; do
	step "exec while held: $held"
	steps_start a open init queue queue
	p=$(pid a)
	[ $held = no ] || hold "$p"
	tell a "exec vgpu-load --packet 1ms --report 50ms"
	until_suspended
	[ "$(cat "/proc/$p/comm")" = vgpu-load ] || fail "the old program was suspended"
	wait_for 5 view_is "$p" suspended 1
	ctl 0 resume "$p"
	wait_for 5 running "$p"
	kill "$p"
	wait "$p" || fail "ended with $?: $(cat "$W/a.out" "$W/a.err")"
	expect_nothing_left "$p"
done

step "programs one after the other under one PID, suspends all the time"
steps_start b open init queue
p=$(pid b)
(while :; do
	timeout $((10 * PACE)) gpreempt-ctl suspend "$p" --for 100ms
done) > "$W/loop" 2>&1 &
loop=$!
started="$started $loop"
# suspended_more N: more than N times
suspended_more() { [ "$(grep -c '^suspended' "$W/loop")" -gt "$1" ]; }
for i in 2 3 4 5 6; do
	tell b "exec gpu-steps open init queue"
	wait_for 20 steps_taken b $((3 * i))
	wait_for 20 suspended_more "$(grep -c '^suspended' "$W/loop")"
done
kill -9 $loop
wait $loop
timeout $((10 * PACE)) gpreempt-ctl resume "$p" > /dev/null 2>&1
alive "$p" || fail "it died"
expect_free b
tell b close
wait "$p" || fail "ended with $?"
expect_nothing_left "$p"
wait_for 5 no_kfd_process
