# SPDX-License-Identifier: GPL-2.0-only
# ROCr's own kernels are executed: a fill, and all copies without SDMA.
# waves: run
# timeout: 180
. /t/rocm.sh
. /t/load.sh
needs_engine

checks="fill copy copy-after lock"
for sdma in 1 0; do
	step "SDMA: $sdma"
	# shellcheck disable=SC2086 # words
	HSA_ENABLE_SDMA=$sdma timeout $((40 * PACE)) hsa-check13 $checks > "$W/out" 2>&1
	_status=$?
	cat "$W/out"
	[ $_status -eq 0 ] && grep -q '4096 of 4096 bytes' "$W/out" || fail "wrong bytes"
done
[ "$(counter 0 code_faults)" -eq 0 ] || fail "a dispatch ended because of its code"
wait_for 2 no_kfd_process
