# SPDX-License-Identifier: GPL-2.0-only
# The same with eight GPUs.
# vgpu: gpus=8
. /t/rocm.sh

expect_rocminfo 12 8
expect_rocminfo 13 8
[ "$(gpu_nodes | wc -l)" -eq 8 ] || fail "not eight GPUs"
for node in $(gpu_nodes); do
	[ "$(property "$node" num_xcc)" = 4 ] || fail "node $node has not 4 XCCs"
done
wait_for 2 no_kfd_process
