# SPDX-License-Identifier: GPL-2.0-only
# Eight processes on eight GPUs are suspended at the same time: their GPUs save
# together, not one after the other. Long saves, so that eight programs that poll
# on an emulated CPU are not what takes the time.
# vgpu: gpus=8 save_ns=60000000
# timeout: 120
. /t/lib.sh

pids=
for g in 0 1 2 3 4 5 6 7; do
	start "g$g" --gpus $g --packet 100ms --depth 8
	pids="$pids $(pid g$g)"
done
# shellcheck disable=SC2086
timeout $((90 * PACE)) gp-api gang 2 $pids > "$W/gang" 2>&1 || fail "$(cat "$W/gang")"
cat "$W/gang"

# One after the other would be 480 ms.
most=$(sed -n 's/^all suspend_us .*max=\([0-9]*\).*/\1/p' "$W/gang")
between "$most" 60000 $((120000 * SLOW)) "the longest suspend of all, in us"
for g in 0 1 2 3 4 5 6 7; do
	wait_for 15 running "$(pid g$g)"
done
stop g0
