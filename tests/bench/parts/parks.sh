# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Two offline processes that rest between their packets, each of which guard parks in every rest:
# packets lost, and the time from the doorbell of a packet to its begin on the GPU.
# vgpu: gpus=8 poll_ns=5000000
# clock: counted
# timeout: 6000
. /t/lib.sh
. /t/bench.sh

parks=${BENCH_PARKS:-400}

# Requests of 50 packets, with a rest of 0.7 s before each but the first: after 400 ms without work
# a process is idle for certain. resting LABEL
resting() {
	PROGRAM=/tmp/train start "$1" --gpus 0 --packet "$(us 1000)" --report 0 --kick \
		--samples "$W/$1.samples" --delay 5 --drain 60 --every 1s \
		--steps "49,1,$(us 1000),700ms,750ms" --count $((parks / 100 * 50))
}

choose_dilation
save 100
resting off0
resting off1
cat > "$W/conf" <<-EOF
	policy park=50ms
	tenant comm:train
EOF
tenants="--config $W/conf"
guard 2 --poll "$(us $LOOK)"
# Each of them ends with an error if a packet is lost, or runs twice.
lost=0
for label in off0 off1; do
	wait "$(pid "$label")" || lost=$((lost + 1))
done
end_guard
echo "parks $(grep -c '"event":"suspend".*"reason":"park"' "$W/guard")"
echo "packets $(cat "$W"/off?.samples | grep -vc '#')"
echo "lost $lost"
for label in off0 off1; do
	grep -v '#' "$W/$label.samples" | awk 'NR % 50 != 1'
done | awk -v d="$(dilation)" '{ printf "%.0f\n", ($3 - $2) / d }' | sort -n |
	awk '{ ns[NR] = $1 } END {
		print "first_dispatch_n", NR
		printf "first_dispatch_p50_us %.1f\n", ns[int((NR + 1) / 2)] / 1000
		printf "first_dispatch_p99_us %.1f\n", ns[int(NR * 0.99 + 0.5)] / 1000
		printf "first_dispatch_max_us %.1f\n", ns[NR] / 1000
	}'
