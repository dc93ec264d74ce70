# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Eight processes suspended together against one of them, on a GPU each and on
# one GPU. A save takes 5 ms, so that the emulated CPUs are not what they wait
# for; and on one CPU with a clock of its own, because two threads that emulate
# one each wait for the host, and for each other, by the millisecond.
# vgpu: gpus=8 save_ns=5000000 poll_ns=100000
# clock: counted
# timeout: 600
. /t/lib.sh

# gang NAME GPU-OF-EACH...
gang() {
	_name=$1
	shift
	_pids="" _i=0
	for _gpu in "$@"; do
		start "$_name$_i" --gpus "$_gpu" --packet 100ms --depth 8 --report 0
		_pids="$_pids $(pid "$_name$_i")"
		_i=$((_i + 1))
	done
	# shellcheck disable=SC2086
	gang-bench "$_name" "${BENCH_BLOCKS:-5}" "${BENCH_CYCLES:-20}" $_pids || fail "gang-bench"
	# shellcheck disable=SC2086
	kill -9 $_pids
	wait_for 30 no_kfd_process
}

gang gang8 0 1 2 3 4 5 6 7
gang gang8_one_gpu 0 0 0 0 0 0 0 0
