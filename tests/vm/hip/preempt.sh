# SPDX-License-Identifier: GPL-2.0-only
# The same program suspended and resumed 100 times, held, and ended while it is
# suspended: nothing lost, nothing twice, what was copied is right.
# timeout: 240
. /t/rocm.sh

# The program may sit in a copy and print nothing: the GPU is asked.
gpu_stands_still() {
	_n=$(counter 0 retired)
	sleep 0.5
	[ "$(counter 0 retired)" = "$_n" ] || fail "packets of a suspended program"
}

hip_start a 4 300
p=$(pid a)
expect_progress a
hold "$p"
gpu_stands_still
release_target "$p"
expect_progress a
ctl 0 preempt "$p" --count 100 --hold 3ms --interval 10ms
says '^cycles 100 succeeded 100'
says '^verified yes 100'
expect_progress a
stop a

step "the controller killed, then an end while suspended"
hip_start b 2 300
p=$(pid b)
hold "$p"
kill -9 "$(holder_of "$p")"
wait_for 5 running "$p"
expect_progress b
gpreempt-ctl suspend "$p" --for 1s > "$W/ctl"
kill -TERM "$p"
expect_good_end b
wait_for 3 nothing_held
wait_for 3 no_kfd_process
