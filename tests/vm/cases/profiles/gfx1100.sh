# SPDX-License-Identifier: GPL-2.0-only
# RDNA 3: MES schedules. Queues are added and removed one by one, so a suspend
# disturbs no other; there is no grace period.
# vgpu: profile=gfx1100
# timeout: 60
. /t/lib.sh
. /t/profile.sh

# cwsr_size by hand: 96 CUs of 0x75000 bytes, 12 bytes a wave for 3072 waves.
has_properties 1 <<-END
	gfx_target_version 110000
	num_xcc 1
	simd_count 192
	num_sdma_engines 2
	num_sdma_xgmi_engines 0
	num_sdma_queues_per_engine 6
	cwsr_size 46047232
	ctl_stack_size 40960
END
[ "$(node_cell 1 scheduler)" = mes ] || fail "scheduler is $(node_cell 1 scheduler)"
[ "$(counter 0 mes_set_resources)" -eq 1 ] || fail "MES did not get its resources once"

start a --queues 3 --sdma 2 --sdma-work --packet 500us
start b --queues 2 --packet 500us
p=$(pid a)
cat "$VIEW/$p/queues" "$VIEW/$p/hqds" "$VGPU/0/state"
expect_view "$p" active 1
expect_view "$(pid b)" active 1
[ "$(counter 0 mes_add)" -eq 7 ] || fail "$(counter 0 mes_add) queues were added, not 7"

# kfd_dbg_set_workaround() of gfx 11.0 takes each queue of the target off and on once
# when a session begins, and when it ends.
step "suspended, queue by queue; nothing else is removed"
removed=$(counter 0 mes_remove) added=$(counter 0 mes_add)
ctl 0 suspend "$p"
cat "$W/ctl"
[ "$(($(counter 0 mes_remove) - removed))" -eq 10 ] || fail "not 5 + 5 queues were removed"
[ "$(($(counter 0 mes_add) - added))" -eq 5 ] || fail "not 5 queues were added"
expect_no_progress a
expect_progress b

step "resumed"
ctl 0 resume "$p"
[ "$(($(counter 0 mes_add) - added))" -eq 15 ] || fail "not 5 + 5 queues were added"
expect_progress a
stop a
stop b
[ "$(counter 0 run_list)" -eq 0 ] || fail "there was a run list"
[ "$(counter 0 mes_refused)" -eq 0 ] || fail "MES refused a frame"
