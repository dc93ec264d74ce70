# SPDX-License-Identifier: GPL-2.0-only
# Debian 13's HIP: a module's kernel launched on four streams, exactly once
# each; pinned and pageable copies are right; its queues are in view.
# timeout: 180
. /t/rocm.sh

grep -E '^(libamdhip|libamd-comgr|libllvm|libhsa-runtime64)' /hip13/versions
hip_start a 4 300 500
p=$(pid a)
queue_types "$p"
echo
[ "$(view "$p" type | grep -c compute-aql)" -ge 4 ] || fail "fewer queues than streams"
[ "$(view "$p" type | grep -c sdma)" -ge 1 ] || fail "no SDMA queue"
expect_good_end a
[ "$(result a completed)" = 2000 ] || fail "not 2000 launches"
[ "$(result a copies)" -ge 4 ] || fail "no copies"
wait_for 2 no_kfd_process
