# SPDX-License-Identifier: GPL-2.0-only
# RDNA 4: MES has a second ring, and frames of another layout. A session takes no queue
# off and on, unlike that of gfx 11.0.
# vgpu: profile=gfx1201
# timeout: 60
. /t/lib.sh
. /t/profile.sh

# cwsr_size by hand: 64 CUs of 0x75000 bytes, 12 bytes a wave for 2048 waves and 8 more.
has_properties 1 <<-END
	gfx_target_version 120001
	num_xcc 1
	simd_count 128
	num_sdma_engines 2
	num_sdma_xgmi_engines 0
	num_sdma_queues_per_engine 6
	cwsr_size 30699520
	ctl_stack_size 28672
END
[ "$(node_cell 1 scheduler)" = mes ] || fail "scheduler is $(node_cell 1 scheduler)"
[ "$(counter 0 mes_set_resources)" -eq 1 ] || fail "MES did not get its resources once"

# Two pipes with two queues each for user space: all four, and none waits.
start a --queues 2 --sdma 2 --sdma-work --packet 500us
start b --queues 2 --packet 500us
p=$(pid a)
cat "$VIEW/$p/queues" "$VIEW/$p/hqds" "$VGPU/0/state"
expect_view "$p" active 1
expect_view "$(pid b)" active 1
[ "$(counter 0 mes_add)" -eq 6 ] || fail "$(counter 0 mes_add) queues were added, not 6"

step "suspended, queue by queue; nothing else is removed"
removed=$(counter 0 mes_remove) added=$(counter 0 mes_add)
ctl 0 suspend "$p"
cat "$W/ctl"
[ "$(($(counter 0 mes_remove) - removed))" -eq 4 ] || fail "not 4 queues were removed"
[ "$(counter 0 mes_add)" -eq "$added" ] || fail "queues were added"
expect_no_progress a
expect_progress b

step "resumed"
ctl 0 resume "$p"
[ "$(($(counter 0 mes_add) - added))" -eq 4 ] || fail "not 4 queues were added"
expect_progress a

step "paused"
ctl 0 suspend "$p" --how pause
expect_no_progress a
expect_progress b
ctl 0 resume "$p"
expect_progress a

step "more queues than slots take turns; a suspend of one process leaves the others theirs"
start c --queues 2 --packet 500us
expect_progress c
expect_progress b
ctl 0 suspend "$p"
expect_no_progress a
expect_progress b
expect_progress c
ctl 0 resume "$p"
expect_progress a
stop a
stop b
stop c
[ "$(counter 0 run_list)" -eq 0 ] || fail "there was a run list"
[ "$(counter 0 mes_refused)" -eq 0 ] || fail "MES refused a frame"
