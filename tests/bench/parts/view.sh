# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# What a read of the view costs, against the driver's own files.
# vgpu: gpus=8 xccs=4 poll_ns=100000
# timeout: 300
. /t/lib.sh

# ns_of COUNT FILE...: the median
ns_of() {
	view-bench "$@" | cut -d' ' -f2
}

start a --gpus 3 --queues 5 --packet 1ms --rate 100
p=$(pid a)
wait_for 5 running "$p"
# Without the feature waves first: its hook has another type.
module=/lib/modules/gpreempt.ko
rmmod gpreempt && btf-doctor graft $module kfd2kgd_calls get_cu_occupancy get_cu_occupancy u32 ||
	fail "cannot load the module without waves"
wait_for 2 in_view "$p"
cold=$(reads_of "$VIEW/$p/queues")
warm=$(reads_of "$VIEW/$p/queues")
rmmod gpreempt && insmod $module || fail "cannot load the module again"
wait_for 2 in_view "$p"
cat "$VIEW/$p/queues" > /dev/null
waves=$(($(reads_of "$VIEW/$p/queues") - warm))
hqds=$(reads_of "$DEBUGFS/kfd/hqds")
echo "view_register_reads_cold $cold"
echo "view_register_reads $warm"
echo "view_waves_register_reads $waves"
echo "hqds_register_reads $hqds"
echo "view_register_cold_gain $((hqds / cold))"
echo "view_register_gain $((hqds / warm))"
ours=$(ns_of 51 "$VIEW/$p/queues")
theirs=$(ns_of 3 "$DEBUGFS/kfd/mqds" "$DEBUGFS/kfd/hqds")
echo "view_ns $ours"
echo "kfd_debugfs_ns $theirs"
echo "view_time_gain $((theirs / ours))"
echo "processes_ns $(ns_of 21 "$DEBUGFS/gpreempt/processes")"
echo "nodes_register_reads $(reads_of "$DEBUGFS/gpreempt/nodes")"
stop a > /dev/null

# All processes at once, while one executes in all XCCs of each GPU.
for g in 0 1 2 3 4 5 6 7; do
	start "b$g" --gpus $g --packet 2s --depth 4 --workgroups 64 --report 0
	wait_for 5 running "$(pid b$g)"
done
echo "busy_8_usage_register_reads $(reads_of "$DEBUGFS/gpreempt/usage")"
for g in 0 1 2 3 4 5 6 7; do
	kill -9 "$(pid b$g)"
	wait_for 5 gone "$(pid b$g)"
done

# One process of 16 queues is read while there are that many, one GPU after
# the other. From the 2nd on a GPU, there are more queues than its 24 slots.
n=0
for processes in 1 8 64; do
	while [ $n -lt $processes ]; do
		start "s$n" --gpus $((n % 8)) --queues 16 --rate 1 --report 0 --acquire-used
		n=$((n + 1))
	done
	p=$(pid s0)
	cat "$VIEW/$p/queues" > /dev/null
	echo "scaling_${processes}_register_reads $(reads_of "$VIEW/$p/queues")"
	echo "scaling_${processes}_view_ns $(ns_of 21 "$VIEW/$p/queues")"
	echo "scaling_${processes}_kfd_debugfs_ns $(ns_of 1 "$DEBUGFS/kfd/mqds" "$DEBUGFS/kfd/hqds")"
	# All processes at once.
	echo "scaling_${processes}_usage_register_reads $(reads_of "$DEBUGFS/gpreempt/usage")"
	echo "scaling_${processes}_usage_ns $(ns_of 21 "$DEBUGFS/gpreempt/usage")"
done
