# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# A suspend of a target that is held already: its holder is asked, and there is
# no new session; and a list of 20 processes. Time is counted, because an emulated
# CPU takes some 20 times as long to start a program.
# vgpu: gpus=1 poll_ns=100000
# clock: counted
# timeout: 600
. /t/lib.sh

start a --queues 4 --packet 10us --rate 1
p=$(pid a)
gpreempt-ctl suspend "$p" > /dev/null || fail "suspend"
holder=$(holder_of "$p")
[ -n "$holder" ] || fail "no holder"
held-bench "${BENCH_RUNS:-200}" gpreempt-ctl suspend "$p" > "$W/held" || fail "held-bench"
sed 's/^/held_suspend_/' "$W/held"
echo "held_suspend_n ${BENCH_RUNS:-200}"
others=$(seq 19)
for i in $others; do
	start "other$i" --queues 1 --packet 10us --rate 1 --report 0
done
held-bench "${BENCH_RUNS:-200}" gpreempt-ctl list > "$W/list" || fail "held-bench: list"
sed 's/^/list20_/' "$W/list"
for i in $others; do
	stop "other$i"
done
[ "$(holder_of "$p")" = "$holder" ] || fail "there is another holder"
gpreempt-ctl resume "$p" > /dev/null || fail "resume"
stop a
