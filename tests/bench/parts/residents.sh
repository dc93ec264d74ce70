# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# What guard costs while nothing happens: CPU time of guard and its workers, beside 1 and 64 offline
# processes that rest, before an online one comes and after it.
# vgpu: gpus=1 poll_ns=1000000
# clock: counted
# timeout: 1200
. /t/lib.sh
. /t/guard.sh

seconds=${BENCH_SECONDS:-10}

for name in train serve; do
	ln -s "$(command -v vgpu-load)" "/tmp/$name"
done

# cpu_us PIDS...
cpu_us() {
	for _p; do
		cat "/proc/$_p"/task/*/schedstat 2> /dev/null
	done | awk '{ ns += $1 } END { printf "%d\n", ns / 1000 }'
}

# cost NAME: of guard and its workers
cost() {
	_workers=$(children "$g")
	_from=$(cpu_us "$g") _from_workers=$(cpu_us $_workers)
	sleep "$seconds"
	_to=$(cpu_us "$g") _to_workers=$(cpu_us $_workers)
	awk -v name="$1" -v us=$((_to - _from)) -v workers=$((_to_workers - _from_workers)) \
		-v s="$seconds" 'BEGIN {
		printf "%s_cpu_ms_per_s %.1f\n", name, us / 1000 / s
		printf "%s_workers_cpu_ms_per_s %.1f\n", name, workers / 1000 / s
	}'
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
	cost "idle_$1"
	PROGRAM=/tmp/serve start on --queues 1 --packet 1ms --rate 1 --report 0
	wait_for 15 said "process $(pid on) is online"
	kill -STOP "$(pid on)"
	sleep 5
	cost "beside_$1"
	kill -KILL "$(pid on)"
	end_guard
}

rest 1
rest 64
