# SPDX-License-Identifier: GPL-2.0-only
# Busy % of processes is what the virtual GPU executed, by its own account, within two
# points: 1, 2 and 16 processes, over-subscribed, suspended half of the time, 8 GPUs.
# Packets, and turns of queues, last longer than the time between two looks: of shorter ones
# a share of n looks has an error of sqrt(p * (1 - p) / n), 2.2 points for half of 500 looks.
# vgpu: gpus=8 quantum_ns=200000000 rotate_ns=400000000
# timeout: 300
. /t/lib.sh

# shares PID...: looks for ten seconds, and compares with the time with waves in flight on
# all GPUs
shares() {
	cat "$VGPU"/*/busy > "$W/before"
	_t0=$(uptime_cs)
	gpreempt-ctl metrics --for 10s --looks 20ms > "$W/metrics" ||
		fail "metrics ended with $?"
	_cs=$(($(uptime_cs) - _t0))
	cat "$VGPU"/*/busy > "$W/after"
	_bad=0
	for _p; do
		sed -n "s/^gpreempt_process_busy_ratio{.*process_id=\"$_p\".*method=\"waves\".*} /seen /p" \
			"$W/metrics" | cat - "$W/before" "$W/after" |
			awk -v pid="$_p" -v cs="$_cs" '
			$1 == "seen" { seen += 100 * $2; n++ }
			/^#/ { file++ }
			$1 == pid && file <= gpus { real -= $3 }
			$1 == pid && file > gpus { real += $3 }
			END {
				real /= cs * 1e5
				printf "process %d: %.1f %% of looks, %.1f %% of the time\n",
					pid, seen, real
				exit n < 1 || seen - real > 2 || real - seen > 2
			}' gpus=8 - || _bad=1
	done
	grep '^gpreempt_sample_looks\|^gpreempt_scrape_cpu' "$W/metrics"
	[ $_bad -eq 0 ] || fail "more than two points off"
}

step "one process"
start a --packet 300ms --workgroups 64 --depth 4 --report 0
wait_for 15 running "$(pid a)"
shares "$(pid a)"

step "two processes"
start b --packet 200ms --workgroups 64 --depth 4 --report 0
wait_for 15 running "$(pid b)"
shares "$(pid a)" "$(pid b)"
kill -9 "$(pid b)"
wait_for 30 gone "$(pid b)"

step "suspended half of the time"
(
	while :; do
		sleep 0.5
		gpreempt-ctl suspend "$(pid a)" > /dev/null
		sleep 0.5
		gpreempt-ctl resume "$(pid a)" > /dev/null
	done
) &
toggle=$!
started="$started $toggle"
sleep 1
shares "$(pid a)"
kill "$toggle"
wait "$toggle"
gpreempt-ctl resume "$(pid a)" > /dev/null
kill -9 "$(pid a)"
wait_for 30 gone "$(pid a)"

step "16 processes, 32 queues on 24 slots: over-subscribed"
i=0 all=
while [ $i -lt 16 ]; do
	start "s$i" --queues 2 --packet 50ms --workgroups 16 --depth 2 --report 0
	all="$all $(pid s$i)"
	i=$((i + 1))
done
sleep 1
# shellcheck disable=SC2086 # words
shares $all
for p in $all; do
	kill -9 "$p"
	wait_for 30 gone "$p"
done

step "8 GPUs, from 10 to 80 %"
all=
for g in 0 1 2 3 4 5 6 7; do
	start "g$g" --gpus $g --packet $((g + 1))00ms --rate 1 --workgroups 8 --report 0
	all="$all $(pid g$g)"
done
sleep 1
# shellcheck disable=SC2086 # words
shares $all
