# SPDX-License-Identifier: GPL-2.0-only
# Debian 13's ROCr, function by function, with a second GPU to copy to. What the
# virtual GPU does not serve is refused, and the kernel's log stays clean.
# vgpu: gpus=2
# driver: any
. /t/rocm.sh

rocm_versions 13
rocm_env 13
timeout $((40 * PACE)) hsa-check13 || fail "ended with $?"
[ "$(counter 0 bad_address)$(counter 0 sdma_unknown)" = 00 ] || fail "the GPU met what it does not know"

step "ROCr told to use no interrupts"
irqs=$(counter 0 interrupts)
HSA_ENABLE_INTERRUPT=0 timeout $((40 * PACE)) hsa-check13 dispatch wait-interrupt wait-polling ||
	fail "ended with $?"
[ "$(counter 0 interrupts)" -eq "$irqs" ] || fail "there were interrupts"
wait_for 2 no_kfd_process
