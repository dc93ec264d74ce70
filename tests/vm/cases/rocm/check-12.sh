# SPDX-License-Identifier: GPL-2.0-only
# Debian 12's ROCr, function by function: packets, waits, times, copies.
# vgpu: gpus=1 xccs=1
# driver: any
. /t/rocm.sh

rocm_versions 12
rocm_env 12
timeout $((40 * PACE)) hsa-check12 || fail "ended with $?"
[ "$(counter 0 bad_address)$(counter 0 sdma_unknown)" = 00 ] || fail "the GPU met what it does not know"
wait_for 2 no_kfd_process
