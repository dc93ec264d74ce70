# SPDX-License-Identifier: GPL-2.0-only
# A process with queues on one GPU and no address space on a later one: the
# driver's suspend dereferences NULL there (6.12.117), so a session is refused, and by
# itself suspend pauses it.
# vgpu: gpus=2
# timeout: 90
. /t/lib.sh

start a --gpus 0 --packet 1ms --acquire-used
p=$(pid a)
ctl 3 suspend "$p" --how debug
says_what_to_do 'set up|address space'
ctl 3 preempt "$p" --count 1 --how debug
expect_progress a
not_traced "$p" || fail "it is still traced"
ctl 0 suspend "$p"
says "^paused $p: .*verified: yes"
release_target "$p"
stop a

step "with an address space on both it is suspended as any other"
start b --gpus 0 --packet 1ms
hold "$(pid b)"
release_target "$(pid b)"
stop b
