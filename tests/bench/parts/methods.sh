# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The two methods, as they are used: the commands from start to end, the CPU
# time of what stays behind while a target is held, eight processes on one GPU together,
# and guard from the arrival of online work to the end of the call.
# vgpu: gpus=1 xccs=4 poll_ns=100000
# clock: counted
# timeout: 900
. /t/lib.sh

HELD_S=30	# how long a target is held for the figure of an hour

ratio() { awk -v a="$2" -v b="$3" -v name="$1" 'BEGIN { printf "%s %.3f\n", name, a / b }'; }

# Each process that gpreempt has left running.
left() {
	grep -l '^gpreempt' /proc/[0-9]*/comm 2> /dev/null | sed 's,/comm$,,'
}

# CPU time in us of all their threads
left_us() {
	for _p in $(left); do
		cat "$_p"/task/*/schedstat 2> /dev/null
	done | awk '{ ns += $1 } END { printf "%d\n", ns / 1000 }'
}

# --- commands ----------------------------------------------------------------

start a --queues 5 --packet 10us --rate 1 --report 0
p=$(pid a)
wait_for 15 running "$p"
command-bench "$p" "${BENCH_RUNS:-50}" || fail "command-bench"

# --- what a held hour costs --------------------------------------------------

# held NAME OPTIONS...
held() {
	_name=$1
	shift
	gpreempt-ctl suspend "$p" "$@" > /dev/null || fail "suspend"
	sleep 1
	_before=$(left_us)
	sleep $HELD_S
	_used=$(($(left_us) - _before))
	echo "held_hour_${_name}_processes $(left | wc -l)"
	echo "held_hour_${_name}_cpu_ms $((_used * 3600 / HELD_S / 1000))"
	gpreempt-ctl resume "$p" > /dev/null || fail "resume"
}

held debug --how debug
held pause --how pause
held lease_debug --how debug --for 1h
held lease_pause --how pause --for 1h
stop a

# --- eight processes on one GPU ----------------------------------------------

pids=
for i in 0 1 2 3 4 5 6 7; do
	start "g$i" --queues 1 --packet 1ms --report 0
	pids="$pids $(pid "g$i")"
done

# gang HOW: the time of the gang, from the release of the threads to the last return
gang() {
	# shellcheck disable=SC2086
	gpreempt-ctl preempt $pids --how "$1" --count "${BENCH_CYCLES:-50}" --hold 2ms \
		--interval 20ms --json > "$W/gang" || fail "preempt: $(cat "$W/gang")"
	_suspend=$(json-value "$W/gang" suspend_ioctl_us p50)
	echo "gang8_$1_suspend_us $_suspend"
	echo "gang8_$1_resume_us $(json-value "$W/gang" resume_ioctl_us p50)"
	eval "gang_$1=\$_suspend"
}

gang debug
gang pause
# shellcheck disable=SC2154
ratio gang8_pause_ratio "$gang_pause" "$gang_debug"
# shellcheck disable=SC2086
kill -9 $pids
wait_for 30 no_kfd_process

# --- guard -------------------------------------------------------------------

for name in train serve; do
	ln -s "$(command -v vgpu-load)" "/tmp/$name"
done

knows_both() {
	[ "$(grep -cE '"process [0-9]+ is (online|offline)"' "$W/guard")" -eq 2 ]
}

# guard HOW: from the last look that saw no online work to the end of the call
guard() {
	PROGRAM=/tmp/train start off --packet 20ms --report 0 --kick
	PROGRAM=/tmp/serve start on --packet 1ms --report 0 --kick --delay 2 --ring 4096 \
		--drain 60 --burst 20 --every 100ms --count "$((20 * ${BENCH_ARRIVALS:-200}))"
	gpreempt-ctl guard --online comm:serve --offline comm:train --how "$1" --poll 200us \
		--json > "$W/guard" 2>&1 &
	_guard=$!
	started="$started $_guard"
	wait_for 30 knows_both
	wait "$(pid on)" || fail "vgpu-load: $(cat "$W/on.err")"
	kill -TERM $_guard
	wait $_guard || fail "guard ended with $?: $(cat "$W/guard")"
	stop off > /dev/null
	sed -n '/"event":"suspend"/s/.*"ioctl_us":\([0-9.]*\).*"arrival_to_ioctl_us":\([0-9.]*\).*/\1 \2/p' \
		"$W/guard" | awk '{ print $1 + $2 }' | sort -n > "$W/arrivals"
	_off=$(awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }' "$W/arrivals")
	echo "guard_$1_arrival_to_off_us $_off"
	echo "guard_$1_n $(wc -l < "$W/arrivals")"
	eval "guard_$1=\$_off"
}

guard debug
guard pause
# shellcheck disable=SC2154
ratio guard_pause_ratio "$guard_pause" "$guard_debug"
