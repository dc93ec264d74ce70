# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# A pause against a debug session: the ioctls, and from nothing attached to off
# the GPU; of a process with five queues on the only GPU. And what a pause makes
# the driver do. pause8.sh has eight GPUs, pause1of8.sh one of eight.
# vgpu: gpus=1 xccs=4 poll_ns=100000
# clock: counted
# timeout: 600
. /t/lib.sh

gpus=$(gpu_nodes | wc -l)

# of all GPUs
all() {
	_sum=0
	_i=0
	while [ $_i -lt "$gpus" ]; do
		_sum=$((_sum + $(counter $_i "$1")))
		_i=$((_i + 1))
	done
	echo $_sum
}

start a --gpus "${target_gpus:-0}" --queues 5 --packet 10us --rate 1 --report 0
wait_for 15 running "$(pid a)"
pause-bench "$(pid a)" 20 "${BENCH_CYCLES:-200}" > "$W/figures" || fail "pause-bench"
: "${name:=gpu${gpus}_}"
sed "s/^/$name/" "$W/figures"
for what in reg_writes unmap_queues run_list query_status; do
	before=$(all $what)
	gp-pause pause "$(pid a)" > /dev/null || fail "pause"
	echo "${name}pause_$what $(($(all $what) - before))"
	gp-pause unpause "$(pid a)" > /dev/null || fail "unpause"
done
stop a
