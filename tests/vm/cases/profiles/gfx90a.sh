# SPDX-License-Identifier: GPL-2.0-only
# MI210 and MI250: one XCC, five SDMA engines, a VMID for each debugged process.
# tier: gate
# vgpu: profile=gfx90a
# timeout: 60
# driver: any
. /t/lib.sh
. /t/profile.sh

has_properties 1 <<-END
	gfx_target_version 90010
	device_id 29711
	simd_count 416
	array_count 8
	num_sdma_engines 2
	num_sdma_xgmi_engines 3
	num_sdma_queues_per_engine 8
END
# cwsr_size by hand, as kfd_queue_ctx_save_restore_size() has it: 104 CUs of 0x95000
# bytes, and 8 bytes a wave of a control stack for 4096 waves, in pages.
if has_debug_trap; then
	has_properties 1 <<-END
		num_xcc 1
		cwsr_size 63508480
		ctl_stack_size 36864
	END
	[ "$(watch_points 1)" -eq 4 ] || fail "$(watch_points 1) watch points"
fi

start_two

step "two are held at a time"
hold "$p"
hold "$(pid b)"
expect_no_progress a
release_target "$p"
expect_progress a
release_target "$(pid b)"
expect_progress b
stop a
stop b
