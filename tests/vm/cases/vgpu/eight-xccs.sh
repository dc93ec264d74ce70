# SPDX-License-Identifier: GPL-2.0-only
# Two GPUs with eight XCCs each: eight slots a queue.
# vgpu: gpus=2 xccs=8
# timeout: 90
. /t/lib.sh

[ "$(gpu_nodes | wc -l)" -eq 2 ] || fail "not two GPUs"
for n in $(gpu_nodes); do
	[ "$(property "$n" num_xcc)" -eq 8 ] || fail "num_xcc of node $n"
done
start a --gpus all --queues 2 --packet 500us
wait_for 15 view_is "$(pid a)" active 8
hold "$(pid a)"
expect_no_progress a
release_target "$(pid a)"
stop a
