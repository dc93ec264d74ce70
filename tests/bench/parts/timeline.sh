# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# A picture of what guard does, as SVG in the output: packets of both sides and
# when offline was suspended.
# vgpu: gpus=1 poll_ns=5000000 save_ns=100000 restore_ns=100000
# clock: counted
# timeout: 120
. /t/lib.sh

knows() {
	[ "$(grep -cE '"process [0-9]+ is (online|offline)"' "$W/guard")" -eq 2 ]
}

# From the end of each suspend to the entry of the resume, in ns.
holds() {
	awk -F '[:,]' '{ for (i = 1; i < NF; i++) v[$i] = $(i + 1) }
		/"event":"suspend"/ { from = v["\"clock_us\""] }
		/"event":"resume"/ && from {
			printf "%.0f\t%.0f\n", 1000 * from,
				1000 * (v["\"clock_us\""] - v["\"ioctl_us\""])
			from = 0
		}' "$W/guard"
}

start off --packet 20ms --samples "$W/off.samples" --kick --report 0
start on --packet 5ms --burst 1 --every 60ms --count 30 --delay 2 --seed 4 \
	--samples "$W/on.samples" --kick --report 0
gpreempt-ctl guard --online "$(pid on)" --offline "$(pid off)" --poll 200us --json \
	> "$W/guard" 2>&1 &
guard=$!
started="$started $guard"
wait_for 20 knows
expect_good_end on > /dev/null
kill -TERM $guard
wait $guard || fail "guard ended with $?"
stop off > /dev/null
holds > "$W/holds"
echo "timeline_holds $(wc -l < "$W/holds")"
sched-bench timeline 300 "$W/on.samples" "$W/off.samples" "$W/holds" || fail "sched-bench"
