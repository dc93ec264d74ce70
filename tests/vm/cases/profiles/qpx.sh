# SPDX-License-Identifier: GPL-2.0-only
# QPX: four nodes of two XCCs and two SDMA engines each, on one device.
# vgpu: xccs=8 partitions=4
# timeout: 60
. /t/lib.sh
. /t/profile.sh

[ "$(gpu_nodes | tr '\n' ' ')" = "1 2 3 4 " ] || fail "KFD has nodes $(gpu_nodes)"
for n in 1 4; do
	[ "$(node_cell $n device)" = "$(node_cell 1 device)" ] || fail "$n is another device"
	has_properties $n <<-END
		num_xcc 2
		num_sdma_engines 2
		num_sdma_xgmi_engines 0
	END
done

start a --gpus 2 --queues 3 --sdma 2 --packet 500us
start b --gpus all --queues 1 --packet 500us
p=$(pid a)
wait_for 15 running "$p"
wait_for 15 running "$(pid b)"
cat "$VIEW/$p/queues"
[ "$(xccs_of "$p" "$(gpu_id 3)")" = "4 5 " ] || fail "XCCs of a: $(xccs_of "$p" "$(gpu_id 3)")"
[ "$(xccs_of "$(pid b)" "$(gpu_id 4)")" = "6 7 " ] || fail "XCCs of b on the last node"

off_and_on a
off_and_on b
stop a
stop b
