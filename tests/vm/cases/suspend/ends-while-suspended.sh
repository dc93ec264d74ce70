# SPDX-License-Identifier: GPL-2.0-only
# A target that ends normally while suspended destroys its queues first, which
# waits for a resume: the holder releases such a queue, and it ends in 100 ms.
# timeout: 120
. /t/steps.sh

# Starts a process, suspends it and ends it. Sets $took, in hundredths of a second.
end_suspended() {
	start a --queues 4 --packet 1ms --drain 0
	p=$(pid a)
	hold "$p"
	worker=$(holder_of "$p") guardian=$(guardian_of "$p")
	end_time a kill -TERM "$p"
	grep '^done ' "$W/a.out"
	echo "ended with $status after ${took}0 ms"
	[ $status -eq 3 ] || fail "vgpu-load ended with $status"
	[ "$(result a lost)$(result a doubled)$(result a disordered)" = 000 ] || fail "packets"
	wait_for 15 not_in_view "$p"
}

holder_is_gone() {
	wait_for 15 gone "$worker"
	wait_for 15 gone "$guardian"
	nothing_held || fail "status still names the target"
}

for _ in 1 2 3; do
	end_suspended
	holder_is_gone
	[ "$took" -le $((10 * SLOW)) ] || fail "it took ${took}0 ms"
done
