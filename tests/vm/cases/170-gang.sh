# SPDX-License-Identifier: GPL-2.0-only
# Eight processes on eight GPUs, each of which saves for 5 ms: together.
# vgpu: gpus=8 save_ns=5000000
# timeout: 120
. /t/lib.sh

pids=
for g in 0 1 2 3 4 5 6 7; do
	start "g$g" --gpus $g --packet 100ms --depth 8
	pids="$pids $(pid g$g)"
done
# shellcheck disable=SC2086
timeout 60 gp-api gang 20 $pids > "$W/gang" 2>&1 || fail "$(cat "$W/gang")"
cat "$W/gang"

# One after the other would be 40 ms at least; a busy host spoils some cycles,
# but not all of them.
best=$(sed -n 's/^all suspend_us .*min=\([0-9]*\).*/\1/p' "$W/gang")
between "$best" 5000 32000 "best of 20 suspends of all, in us"
for g in 0 1 2 3 4 5 6 7; do
	wait_for 15 running "$(pid g$g)"
done
stop g0
