# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# What guard costs while nothing happens: CPU time of guard and its workers, beside 1 and 64 offline
# processes that rest, before an online one comes.
# vgpu: gpus=1 poll_ns=1000000
# clock: counted
# timeout: 1200
. /t/lib.sh
. /t/guard.sh

seconds=${BENCH_SECONDS:-10}

ln -s "$(command -v vgpu-load)" /tmp/train

# cpu_us PIDS...
cpu_us() {
	for _p; do
		cat "/proc/$_p"/task/*/schedstat 2> /dev/null
	done | awk '{ ns += $1 } END { printf "%d\n", ns / 1000 }'
}

# rest N: with so many offline processes
n=0
rest() {
	while [ "$n" -lt "$1" ]; do
		n=$((n + 1))
		PROGRAM=/tmp/train start "off$n" --queues 1 --packet 1ms --rate 1 --report 0
		wait_for 15 in_view "$(pid "off$n")"
		kill -STOP "$(pid "off$n")"
	done
	guard --online comm:serve --offline comm:train --json
	wait_for 60 all_known "$1"
	sleep 3
	_workers=$(children "$g")
	_from=$(cpu_us "$g") _from_workers=$(cpu_us $_workers)
	sleep "$seconds"
	_to=$(cpu_us "$g") _to_workers=$(cpu_us $_workers)
	end_guard
	awk -v n="$1" -v us=$((_to - _from)) -v workers=$((_to_workers - _from_workers)) \
		-v s="$seconds" 'BEGIN {
		printf "idle_%d_cpu_ms_per_s %.1f\n", n, us / 1000 / s
		printf "idle_%d_workers_cpu_ms_per_s %.1f\n", n, workers / 1000 / s
	}'
}

rest 1
rest 64
