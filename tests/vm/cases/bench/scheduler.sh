# SPDX-License-Identifier: GPL-2.0-only
# What the part "scheduler" of make bench does, short: a fifteenth of its requests, in
# time of the emulator and so without a bar; alone, unprotected and guarded at the
# same time, on a GPU each. One seed, one trace; and each figure is there.
# vgpu: gpus=3
# timeout: 90
. /t/lib.sh

n=200

knows() {
	[ "$(grep -cE '"process [0-9]+ is (online|offline)"' "$W/guard")" -eq 2 ]
}

# When each request was due, from the first on, in us.
trace() {
	awk '!/^#/ { if (!first) first = $1; printf "%d\n", ($1 - first) / 1000 }' "$W/on$1.samples"
}

for gpu in 1 2; do
	start "off$gpu" --gpus "$gpu" --packet 20ms --samples "$W/off$gpu.samples" --kick --report 0
done
for gpu in 0 1 2; do
	start "on$gpu" --gpus "$gpu" --packet 1ms --every 10ms --count $n --delay 4 --seed 7 \
		--samples "$W/on$gpu.samples" --kick --report 0
done
gpreempt-ctl guard --online "$(pid on2)" --offline "$(pid off2)" --linger 0ms --poll 1ms --json \
	> "$W/guard" 2>&1 &
guard=$!
started="$started $guard"
wait_for 20 knows
for gpu in 0 1 2; do
	expect_good_end "on$gpu"
done
kill -TERM $guard
wait $guard || fail "guard ended with $?"
stop off1
stop off2

step "the same requests in each"
trace 0 > "$W/trace"
[ "$(wc -l < "$W/trace")" -eq $n ] || fail "not all requests are in the samples"
for gpu in 1 2; do
	trace $gpu | cmp - "$W/trace" || fail "another trace on GPU $gpu"
done

step "figures"
sched-bench run alone 1 1 0 --online "$W/on0.samples" || fail "alone"
sched-bench run unprotected 1 1 0 --online "$W/on1.samples" --offline "$W/off1.samples" > "$W/figures" ||
	fail "unprotected"
sched-bench run guarded 1 1 0 --online "$W/on2.samples" --offline "$W/off2.samples" >> "$W/figures" ||
	fail "guarded"
cat "$W/figures"
awk -v n=$n '{ v[$1] = $2 }
	END { for (i = 0; i < 2; i++) {
		name = i ? "guarded" : "unprotected"
		if (v[name "_n"] != n || v[name "_p50_us"] < 1000 || v[name "_offline_share"] <= 0 ||
		    v[name "_total_share"] > 1.05)
			exit 1
	} }' "$W/figures" || fail "figures that cannot be"
grep -q '"event":"suspend".*"reason":"arrival"' "$W/guard" || fail "no process was preempted"

step "time to the first token, and of each further one"
for end in 3000000 5000000 9000000; do
	printf '1000000\t1000000\t1000000\t%d\t500000\n' $end
done > "$W/steps"
sched-bench run steps 1 1 2 --online "$W/steps" > "$W/figures" || fail "steps"
for line in "steps_n 1" "steps_ttft_p50_us 2000.0" "steps_tpot_p99_us 3000.0"; do
	grep -q "^$line$" "$W/figures" || fail "no '$line': $(cat "$W/figures")"
done
