# SPDX-License-Identifier: GPL-2.0-only
# The distribution's own amdgpu.ko is up and shows the virtual GPU as a KFD
# node with the figures of an MI308X.
# tier: gate
# timeout: 90
. /t/lib.sh

grep -q '^amdgpu ' /proc/modules || fail "amdgpu is not loaded"
grep -q '^vgpu ' /proc/modules || fail "vgpu is not loaded"
grep -q '^gpreempt ' /proc/modules || fail "gpreempt is not loaded"
[ -c /dev/kfd ] || fail "no /dev/kfd"

nodes=$(gpu_nodes)
[ "$(echo "$nodes" | wc -w)" -eq 1 ] || fail "GPU nodes: $nodes"

# Figures of a real MI308X, from its sysfs.
while read -r name value; do
	got=$(property "$nodes" "$name")
	[ "$got" = "$value" ] || fail "$name is '$got', not $value"
done <<-END
	gfx_target_version 90402
	vendor_id 4098
	device_id 29858
	num_xcc 4
	simd_count 320
	array_count 16
	cu_per_simd_array 10
	simd_per_cu 4
	max_waves_per_simd 8
	wave_front_size 64
	lds_size_in_kb 64
	num_gws 64
	num_sdma_engines 2
	num_sdma_xgmi_engines 6
	num_sdma_queues_per_engine 8
END
# Of an MI300X; AMD's kfdtest (KFDTopologyTest.BasicTest) refuses 0.
[ "$(property "$nodes" sdma_fw_version)" -eq 22 ] || fail "no version of SDMA's firmware"
[ -c "/dev/dri/renderD$(property "$nodes" drm_render_minor)" ] || fail "no render node"
[ -z "$(ls /sys/class/kfd/kfd/proc)" ] || fail "a KFD process right after boot"
