# SPDX-License-Identifier: GPL-2.0-only
# Eight GPUs save at the same time. A new queue takes all of its GPU off for a
# moment, so eight processes that each make one on a GPU of their own wait for
# eight saves: together, not one after the other.
# (Eight suspends would not show it: the driver takes each GPU's lock in turn.)
# vgpu: gpus=8 save_ns=300000000
# timeout: 120
# driver: any
. /t/lib.sh

all_have() {
	for g in 0 1 2 3 4 5 6 7; do
		[ "$(grep -c '^queue ' "$W/g$g.out")" -eq "$1" ] || return 1
	done
}

pids=
for g in 0 1 2 3 4 5 6 7; do
	start "g$g" --gpus $g --packet 100ms --depth 8
	pids="$pids $(pid g$g)"
done
next_lines g7 2

for have in 2 3 4; do
	t0=$(uptime_cs)
	# shellcheck disable=SC2086
	kill -USR2 $pids
	wait_for 20 all_have $have
	took=$(($(uptime_cs) - t0))
	echo "eight saves of 300 ms: ${took}0 ms"
	[ $took -ge 30 ] || fail "a save of 300 ms was not seen"
	[ $took -le 120 ] || fail "one after the other"
done
for g in 0 1 2 3 4 5 6 7; do
	[ "$(counter $g saves)" -ge 1 ] || fail "GPU $g saved nothing"
done
