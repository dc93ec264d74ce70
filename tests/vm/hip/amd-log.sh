# SPDX-License-Identifier: GPL-2.0-only
# amdlog finds in HIP's log what the program itself counts: each launch is a
# packet and a kernel; its queues are among those that the view shows, which has
# those of ROCr beside them.
# timeout: 180
. /t/rocm.sh

export AMD_LOG_LEVEL=4
hip_start a 3 20 500
unset AMD_LOG_LEVEL
p=$(pid a)
queues=$(view "$p" type | grep -c compute-aql)
expect_good_end a
lab 0 amdlog --json --pid "$p" "$W/a.err"
flat() { tr -d ' \n' < "$W/ctl"; }
flat | grep -q "\"processes\":\[{\"pid\":$p,\"lines\":[0-9]*,\"kernels\":1500,\"dispatches\":1500," ||
	fail "not 1500 kernels and 1500 packets"
flat | grep -q '"n_problems":0' || fail "lines that could not be read"
created=$(flat | grep -o '"created":1' | wc -l)
[ "$created" -ge 3 ] && [ "$created" -le "$queues" ] ||
	fail "$created queues for three streams, $queues in the view"
grep HWq= "$W/a.err" | gpreempt-lab amdlog --format shell - > "$W/conf" || fail "amdlog ended with $?"
. "$W/conf"
[ "$GPREEMPT_DISPATCHES" -eq 1500 ] && [ "$GPREEMPT_PID" -eq "$p" ] || fail "the file for scripts differs"
