# SPDX-License-Identifier: GPL-2.0-only
# Drivers without the debug trap crash when a process is resumed that has no address space
# on a GPU: what the library cannot see there, it does not do. Others get no question more.
# timeout: 90
# driver: any
# vgpu: gpus=2
. /t/pause.sh

step "an address space on one of two GPUs only"
start a --gpus 0 --packet 1ms --acquire-used
if ! has_debug_trap; then
	gp 3 pause "$(pid a)"
	printed "no address space on its GPUs 0x"
	ctl 3 suspend "$(pid a)"
	ctl 3 doctor "$(pid a)"
else
	gp 0 pause "$(pid a)"
	expect_paused "$(pid a)"
	gp 0 unpause "$(pid a)"
fi
wait_for 15 running "$(pid a)"
stop a

step "without the module"
start c --queues 1 --packet 1ms
p=$(pid c)
wait_for 15 running "$p"
gp 0 pause "$p"
gp 0 pause "$p"
printed "before yes after yes"
unload
if ! has_debug_trap; then
	gp 3 unpause "$p"
	printed "gpreempt.ko does not show"
	insmod /lib/modules/gpreempt.ko
	gp 0 unpause "$p"
	wait_for 15 running "$p"
	unload
	gp 3 pause "$p"
	ctl 3 suspend "$p"
	says_what_to_do 'gpreempt.ko'
else
	gp 0 unpause "$p"
	gp 0 pause "$p"
	gp 0 unpause "$p"
fi
expect_progress c
insmod /lib/modules/gpreempt.ko
stop c
