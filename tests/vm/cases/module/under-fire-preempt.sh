# SPDX-License-Identifier: GPL-2.0-only
# module/under-fire in a kernel that takes the processor from its own code at any
# instruction, as Linux 7 does by default: a reader of the view stops between two steps.
# kernel: preempt=full
# race: readers that are preempted while processes and GPUs come and go
# vgpu: gpus=2
# timeout: 120
# driver: any
# with: module/under-fire
grep -q '(full)' /sys/kernel/debug/sched/preempt || {
	echo "FAIL: this kernel is not preempted: $(cat /sys/kernel/debug/sched/preempt)"
	exit 1
}
. /t/cases/module/under-fire.sh
