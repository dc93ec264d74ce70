# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Shares by weight: three tenants on one GPU, weights 1, 2, 5, in one slot. Their shares are those of
# the time for which the GPU has executed their packets, by its own count and not by that of guard.
# Then the smallest starts five processes, and the second makes and destroys queues all the time: one
# each 100 ms. (A queue each 10 ms costs the second itself four points: it has no work meanwhile.)
# vgpu: gpus=1 poll_ns=1000000
# clock: counted
# timeout: 2400
. /t/lib.sh
. /t/guard.sh

seconds=${BENCH_SECONDS:-60}

for name in small middle large; do
	ln -s "$(command -v vgpu-load)" "/tmp/$name"
done
cat > "$W/conf" <<-EOF
	policy fair slots=1 slice=50ms
	tenant comm:small weight=100
	tenant comm:middle weight=200
	tenant comm:large weight=500
EOF

# tenant NAME COUNT ARGS...: starts that many processes
tenant() {
	_name=$1 _n=$2
	shift 2
	while [ "$_n" -gt 0 ]; do
		PROGRAM=/tmp/$_name start "$_name$_n" --queues 1 --packet 5ms "$@"
		_n=$((_n - 1))
	done
}

# worked NAME: ms for which the GPU has executed packets of a tenant so far
worked() {
	_all=0
	for _out in "$W/$1"[0-9].out; do
		_label=${_out##*/}
		_ms=$(busy_ms 0 "$(pid "${_label%.out}")")
		_all=$((_all + ${_ms:-0}))
	done
	echo $_all
}

all_worked() { echo "$(worked small) $(worked middle) $(worked large)"; }

# measure NAME PROCESSES
measure() {
	guard --config "$W/conf" --json
	wait_for 60 all_known "$2"
	sleep 3
	_from=$(all_worked)
	sleep "$seconds"
	_to=$(all_worked)
	end_guard
	echo "$_from $_to" | awk -v name="shares_$1" -v s="$seconds" '{
		want[1] = 12.5; want[2] = 25; want[3] = 62.5
		for (i = 1; i <= 3; i++)
			all += n[i] = $(i + 3) - $i
		for (i = 1; i <= 3; i++) {
			share = 100 * n[i] / all
			e = share > want[i] ? share - want[i] : want[i] - share
			worst = e > worst ? e : worst
			printf "%s_%d_percent %.2f\n", name, i, share
		}
		printf "%s_error_points %.2f\n", name, worst
		# Beside the second one: what it gains, and whether the others keep 1 to 5.
		e = 100 * n[2] / all - want[2]
		printf "%s_2_gain_points %.2f\n", name, e < 0 ? 0 : e
		e = 100 * n[1] / (n[1] + n[3]) - 100 / 6
		printf "%s_others_error_points %.2f\n", name, e < 0 ? -e : e
		printf "%s_used_percent %.1f\n", name, all / 10 / s
	}'
	grep '"event":"summary"' "$W/guard" | sed -n 's/.*"preemptions":\([0-9]*\).*/\1/p' |
		awk -v name="shares_$1" -v s="$seconds" '{ printf "%s_switches_per_s %.1f\n", name, $1 / s }'
}

tenant small 1
tenant middle 1
tenant large 1
measure weights 3
stop small1 > /dev/null
tenant small 5
measure fork 7
stop middle1 > /dev/null
tenant middle 1 --churn 100ms --churn-how empty
measure churn 7
