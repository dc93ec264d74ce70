# SPDX-License-Identifier: GPL-2.0-only
# Sessions at points of HIP's start-up, and four HIP programs at once, one of
# them preempted: exact counts for all.
# timeout: 400
. /t/rocm.sh

# As hip_start, but returns at once.
hip_begin() {
	_label=$1
	shift
	GPU_FORCE_BLIT_COPY_SIZE=0 LD_LIBRARY_PATH=/hip13 \
		hip-load /files/vgpu-kernel-gfx942.co "$@" > "$W/$_label.out" 2> "$W/$_label.err" &
	eval "pid_$_label=$!"
	started="$started $!"
}

# Points of hsa_init, of the first queues and of the first copy, ms after the start.
for at in 200 700 1500 4000; do
	step "$at ms after its start"
	hip_begin "a$at" 2 300 200
	p=$(pid "a$at")
	usleep ${at}000
	timeout 30 gpreempt-ctl suspend "$p" --for 400ms > "$W/ctl" 2>&1
	status=$?
	head -n 1 "$W/ctl"
	case $status in
	0|3|5) ;;
	*) fail "suspend ended with $status" ;;
	esac
	expect_good_end "a$at"
	wait_for 3 nothing_held
done

step "four at once"
for n in 1 2 3 4; do
	hip_begin "m$n" 2 300
done
for n in 1 2 3 4; do
	wait_for 120 started_or_dead "m$n"
	expect_progress "m$n"
done
ctl 0 preempt "$(pid m1)" --count 30 --hold 3ms --interval 10ms
says '^cycles 30 succeeded 30'
hold "$(pid m2)"
for n in 1 3 4; do
	expect_progress "m$n"
done
release_target "$(pid m2)"
for n in 1 2 3 4; do
	expect_progress "m$n"
	stop "m$n"
done
wait_for 3 no_kfd_process
