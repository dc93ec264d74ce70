# SPDX-License-Identifier: GPL-2.0-only
# vgpu.ko can be unloaded when no process uses its GPUs, and loaded again.
# gpreempt: no
# timeout: 120
# driver: any
. /t/lib.sh

start a --packet $((10 * SLOW))ms --count 100
rmmod vgpu 2>/dev/null && fail "vgpu.ko was unloaded under a process"
expect_good_end a
# the driver releases the render node a moment after the end
wait_for 5 rmmod vgpu
[ -z "$(gpu_nodes)" ] || fail "a GPU node is left"
insmod /lib/modules/vgpu.ko gpus=2 || fail "insmod"
[ "$(gpu_nodes | wc -l)" -eq 2 ] || fail "not two GPUs"
start b --gpus all --packet 1ms --count 100
expect_good_end b
