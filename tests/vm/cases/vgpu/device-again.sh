# SPDX-License-Identifier: GPL-2.0-only
# A device is removed and made again: the other GPU's process does not notice,
# and the new one works.
# vgpu: gpus=2
# timeout: 120
# driver: any
. /t/lib.sh

# The driver releases the render node a moment after a process has ended.
unplug() {
	echo 1 > "$VGPU/unplug"
} 2>/dev/null

step "a process is there: the device stays"
start a --gpus 0 --packet 1ms
(echo 1 > "$VGPU/unplug") 2>/dev/null && fail "a GPU was removed under a process"
expect_progress a
stop a
wait_for 15 no_kfd_process

step "removed"
wait_for 5 unplug
[ "$(gpu_nodes | wc -l)" -eq 1 ] || fail "its node is left"
start b --gpus all --packet 1ms
[ "$(view "$(pid b)" gpu_id | wc -l)" -eq 1 ] || fail "the view shows a queue of a GPU that is gone"
stop b
wait_for 15 no_kfd_process

step "made again"
echo 1 > "$VGPU/plug" || fail "cannot make GPU 1 again"
[ "$(gpu_nodes | wc -l)" -eq 2 ] || fail "not two nodes"
start c --gpus all --packet 1ms
wait_for 15 running "$(pid c)"
hold "$(pid c)"
expect_no_progress c
release_target "$(pid c)"
stop c
