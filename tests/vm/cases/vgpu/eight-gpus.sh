# SPDX-License-Identifier: GPL-2.0-only
# Eight GPUs, each with its own queues, all at work for one process.
# vgpu: gpus=8
# timeout: 120
# driver: any
. /t/lib.sh

[ "$(gpu_nodes | wc -l)" -eq 8 ] || fail "not 8 GPU nodes"
[ "$(for n in $(gpu_nodes); do cat "$TOPOLOGY/$n/gpu_id"; done | sort -u | wc -l)" -eq 8 ] ||
	fail "two GPUs have one gpu_id"
start a --gpus all --queues 2 --packet 1ms --per-queue
wait_for 15 running "$(pid a)"
[ "$(view "$(pid a)" gpu_id | sort | uniq -c | awk '$1 == 2' | wc -l)" -eq 8 ] ||
	fail "not two queues on each GPU"
next_lines a 3
for gpu in 0 1 2 3 4 5 6 7; do
	[ "$(counter $gpu retired)" -gt 0 ] || fail "GPU $gpu did nothing"
done
hold "$(pid a)"
expect_no_progress a
release_target "$(pid a)"
expect_progress a
stop a
