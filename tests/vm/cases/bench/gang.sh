# SPDX-License-Identifier: GPL-2.0-only
# The part "gang" of make bench, short: every figure is there, a save is in each, and
# eight GPUs save at the same time.
# vgpu: gpus=8 save_ns=5000000
# timeout: 120
. /t/lib.sh

BENCH_BLOCKS=1 BENCH_CYCLES=3 sh /t/bench/parts/gang.sh > "$W/out" 2>&1 || fail "$(cat "$W/out")"
cat "$W/out"
for name in gang8 gang8_one_gpu; do
	awk -v name=$name '{ v[$1] = $2 }
		END { all = v[name "_us"]; one = v[name "_one_us"]; d = all / one - v[name "_ratio"]
			exit !(v[name "_n"] == 3 && one >= 5000 && all >= 5000 &&
				v[name "_resume_us"] > 0 && v[name "_resume_one_us"] > 0 &&
				d < 0.01 && d > -0.01) }' "$W/out" || fail "$name"
done
awk '{ v[$1] = $2 } END { exit !(v["gang8_ratio"] < 2) }' "$W/out" || fail "one after the other"
