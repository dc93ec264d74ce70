#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The story that "make demo" tells, inside the guest. Each step says what it
# does, shows what came back and fails the demo when it is not as promised.
. /t/rocm.sh

queues=3
# Of clang, from tests/wave/kernels.c.
code=/files/gfx942.co

fail() {
	echo
	echo "demo: failed: $*"
	exit 1
}

chapter() {
	echo
	echo "$1/6  $2"
	echo
}

show() {
	echo "      \$ $*"
}

# What the last gpreempt-ctl printed; ctl shows nothing itself here.
ctl() {
	_want=$1
	shift
	show "gpreempt-ctl $*"
	timeout $((60 * PACE)) gpreempt-ctl "$@" > "$W/ctl" 2>&1
	_got=$?
	sed 's/^/      /' "$W/ctl"
	[ $_got -eq "$_want" ] || fail "gpreempt-ctl $* ended with $_got"
}

# The first nine columns are what fits.
show_view() {
	show "cut -c 1-80 $VIEW/$1/queues"
	cut -c 1-80 "$VIEW/$1/queues" | sed 's/^/      /'
}

# The rate over the next second, from five progress lines.
measured_rate() {
	next_lines "$1" 1
	_c0=$(progress "$1" completed) _t0=$(progress_time "$1")
	next_lines "$1" 5
	awk -v c0="$_c0" -v c1="$(progress "$1" completed)" \
		-v t0="$_t0" -v t1="$(progress_time "$1")" \
		'BEGIN { printf "%.0f", (c1 - c0) / (t1 - t0) }'
}

progress_time() {
	awk '/^t / { t = $2 } END { print t }' "$W/$1.out"
}

[ "$(cat $VGPU/engine)" = 1 ] ||
	fail "nothing executes shader code here: clang-19 and lld-19 must be there when it is built"

chapter 1 "The distribution's own amdgpu.ko drives a virtual GPU"
echo "      kernel $(uname -r), amdgpu.ko as shipped, its hash checked before this boot"
node=$(gpu_nodes)
[ -n "$node" ] || fail "no GPU in the KFD topology"
show "cat $TOPOLOGY/$node/properties   (some of it)"
for name in gfx_target_version device_id num_xcc simd_count drm_render_minor; do
	echo "      $name $(property "$node" $name)"
done

echo
echo "      ROCm's own user space, Debian 13's packages as shipped, finds it:"
show "rocminfo   (some of it)"
in_rocm 13 /rocm13/rocminfo > "$W/rocminfo" 2>&1 || fail "rocminfo ended with $?"
awk '$1 == "Name:" { ours = $2 ~ /^gfx/ } ours && /Name: *gfx|Chip ID|Compute Unit/' \
	"$W/rocminfo" | sed 's/^ */      /; s/ *$//'

chapter 2 "A program on ROCr multiplies matrices: $queues queues of its own"
echo "      libhsa-runtime64 $(awk '$1 == "libhsa-runtime64-1" { print $2 }' /rocm13/versions)," \
	"unmodified; the code of the kernel is executed"
show "hsa-gemm $code $queues"
PROGRAM=hsa-gemm13 start demo $code $queues
p=$(pid demo)
wait_for 5 has_queues "$p" "$((queues + 1)) compute-aql"
wait_for 5 running "$p"
rate=$(measured_rate demo)
echo "      pid $p: $rate products/s, each compared with the CPU's"
[ "$rate" -gt 0 ] || fail "the process does no work"

chapter 3 "What gpreempt.ko sees of it, read off the driver and the hardware slots"
show_view "$p"
echo
echo "      its $queues queues, and one that ROCr made for itself"

chapter 4 "Preempted: all its queues off the GPU, through amdkfd's debug interface"
ctl 0 suspend "$p"
says "^suspended $p: .*verified: yes"
echo
show_view "$p"
expect_suspended "$p"
rate=$(measured_rate demo)
echo
echo "      pid $p: $rate products/s"
[ "$rate" -eq 0 ] || fail "it computes while suspended"

chapter 5 "Resumed: it carries on where it was"
ctl 0 resume "$p"
wait_for 5 running "$p"
rate=$(measured_rate demo)
echo "      pid $p: $rate products/s"
[ "$rate" -gt 0 ] || fail "no product after the resume"

chapter 6 "100 measured cycles: suspend, hold 2 ms, resume"
saves=$(counter 0 saves)
ctl 0 preempt "$p" --count 100 --hold 2ms --interval 10ms
says "cycles 100 succeeded 100"
saves=$(($(counter 0 saves) - saves))
echo
echo "      AMD's trap handler saved the waves of $saves kernels in the middle, and restored them."
[ "$saves" -gt 0 ] || fail "no waves were saved"
echo "      Times of the driver's path on a simulated GPU: each instruction of the guest counts"
echo "      4 ns. They compare runs of this bench, and say nothing about real hardware."

kill -TERM "$p"
wait "$p"
status=$?
echo
echo "      The process ends and compares the checksum of all products with the CPU's:"
sed -n 's/^done /      /p' "$W/demo.out"
[ $status -eq 0 ] || fail "a product is wrong"
[ "$(result demo submitted)" = "$(result demo completed)" ] || fail "completed is not submitted"
[ "$(result demo checksum)" = "$(result demo expected)" ] || fail "the checksums differ"
echo "      each product is the CPU's"
echo
echo "demo: ok; next: make vm"
