# SPDX-License-Identifier: GPL-2.0-only
# Vega 10: two SDMA engines with two queues each, and one debug VMID, so that one
# process on the GPU can be debugged at a time.
# vgpu: profile=gfx900
# timeout: 60
# driver: any
. /t/lib.sh
. /t/profile.sh

has_properties 1 <<-END
	gfx_target_version 90000
	device_id 26720
	simd_count 256
	num_sdma_engines 2
	num_sdma_xgmi_engines 0
	num_sdma_queues_per_engine 2
END
# cwsr_size as for gfx90a: 64 CUs of 0x55000 bytes, 2048 waves.
if has_debug_trap; then
	has_properties 1 <<-END
		num_xcc 1
		cwsr_size 22302720
		ctl_stack_size 20480
	END
	[ "$(watch_points 1)" -eq 4 ] || fail "$(watch_points 1) watch points"
fi

start_two

if has_debug_trap; then
	step "the other one can't be debugged meanwhile, and is not disturbed"
	hold "$p"
	ctl 7 suspend "$(pid b)" --how debug
	cat "$W/ctl"
	expect_no_progress a
	expect_progress b
	release_target "$p"
	expect_progress a
fi

step "one after the other"
off_and_on a
off_and_on b
stop a
stop b
