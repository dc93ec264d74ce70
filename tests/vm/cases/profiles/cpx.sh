# SPDX-License-Identifier: GPL-2.0-only
# CPX: each XCC is a node of its own, with one SDMA engine. Two of them share a die,
# and the VMIDs: 4 to 9 and 10 to 15 (kgd2kfd_device_init()).
# vgpu: xccs=8 partitions=8
# timeout: 60
. /t/lib.sh
. /t/profile.sh

[ "$(gpu_nodes | tr '\n' ' ')" = "1 2 3 4 5 6 7 8 " ] || fail "KFD has nodes $(gpu_nodes)"
for n in 1 8; do
	[ "$(node_cell $n gpu_id)" = "$(gpu_id $n)" ] || fail "node $n: gpu_id"
	[ "$(node_cell $n device)" = "$(node_cell 1 device)" ] || fail "$n is another device"
	has_properties $n <<-END
		num_xcc 1
		simd_count 80
		num_sdma_engines 1
		num_sdma_xgmi_engines 0
	END
done

# vmids_of PID: those of its slots
vmids_of() {
	awk 'NR == 2 { for (i = 2; i <= NF; i++) c[$i] = i - 1; next }
		NR > 2 { print $c["vmid"] }' "$VIEW/$1/hqds" | sort -un | tr '\n' ' '
}

start a --gpus 6 --queues 3 --sdma 1 --packet 500us
start b --gpus 7 --queues 2 --sdma 1 --packet 500us
p=$(pid a)
wait_for 15 running "$p"
wait_for 15 running "$(pid b)"
cat "$VIEW/$p/queues" "$VIEW/$p/hqds" "$VIEW/$(pid b)/hqds"
expect_view "$p" gpu_id "$(gpu_id 7)"
expect_view "$p" slots 1
[ "$(xccs_of "$p" "$(gpu_id 7)")" = "6 " ] || fail "XCCs of a: $(xccs_of "$p" "$(gpu_id 7)")"
[ "$(xccs_of "$(pid b)" "$(gpu_id 8)")" = "7 " ] || fail "XCCs of b"
for v in $(vmids_of "$p"); do between "$v" 4 9 "VMID of a"; done
for v in $(vmids_of "$(pid b)"); do between "$v" 10 15 "VMID of b"; done

off_and_on a
off_and_on b
stop a
stop b
