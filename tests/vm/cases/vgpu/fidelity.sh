# SPDX-License-Identifier: GPL-2.0-only
# mqds and hqds look as on a real host with 8 x MI308X: the same blocks, lines
# and register addresses for 5 compute queues on one of 8 GPUs.
# vgpu: gpus=8
# timeout: 120
. /t/lib.sh

start a --gpus 0 --queues 5 --packet 1ms
cat "$DEBUGFS/kfd/mqds" > "$W/mqds"
cat "$DEBUGFS/kfd/hqds" > "$W/hqds"
stop a

awk -f /t/fidelity.awk "$W/mqds" > "$W/mqds.shape"
diff /t/fixtures/mi308x-mqds.shape "$W/mqds.shape" || fail "mqds differs from the real host's"

awk -f /t/fidelity.awk "$W/hqds" > "$W/hqds.shape"
[ "$(grep -c '^GPU ' "$W/hqds.shape")" -eq 8 ] || fail "not 8 GPUs in hqds"
gpu=0
while [ $gpu -lt 8 ]; do
	awk -v gpu=$gpu '/^GPU / { on = $2 == gpu; next } on' "$W/hqds.shape" > "$W/one.shape"
	diff /t/fixtures/mi308x-hqds.shape "$W/one.shape" > "$W/diff" ||
		fail "hqds of GPU $gpu differs: $(head -n 6 "$W/diff")"
	gpu=$((gpu + 1))
done

step "the join of MQDs and slots holds as in the capture"
awk -f /t/join.awk "$W/mqds" "$W/hqds" || fail "the join does not hold"
awk -f /t/join.awk "$W/mqds" "$W/hqds" | grep -q '^queues 5 slots 20 active 20$' ||
	fail "not 20 slots for 5 queues"
