# SPDX-License-Identifier: GPL-2.0-only
# A HIP program whose code is executed, fills and copies of HIP's own kernels among it, preempted
# 10,000 times in the middle of waves: each product and each fill is the CPU's.
# waves: run
# timeout: 1800
. /t/rocm.sh
. /t/load.sh
needs_engine

# Waves execute most of the time, so that most suspends meet some.
echo 8000 > $VGPU/0/instruction_ns
PROGRAM="env" start a LD_LIBRARY_PATH=/hip13 hip-gemm /files/gfx942.co
p=$(pid a)
expect_progress a

before=$(counter 0 saves)
while [ $(($(counter 0 saves) - before)) -lt 10000 ]; do
	ctl 0 preempt "$p" --count 100 --hold 0ms --interval 1ms
	says '^cycles 100 succeeded 100'
done
echo "$(($(counter 0 saves) - before)) queues with waves were saved"
[ "$(counter 0 saves)" -eq "$(counter 0 restores)" ] || fail "not all were restored"
expect_progress a
stop a
[ "$(result a wrong)" = 0 ] || fail "a product or a fill is wrong"
[ "$(counter 0 code_faults)" -eq 0 ] || fail "a dispatch ended because of its code"
