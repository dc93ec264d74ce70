# SPDX-License-Identifier: GPL-2.0-only
# slow: each register read takes as long as the switch says, with dead as well. The
# driver's own readers show it; what gpreempt.ko makes of such a GPU is for other cases.
# timeout: 60
. /t/lib.sh

# took FILE: reads it; how long that took, in $cs, and how many registers it read, in $n
took() {
	n=$(counter 0 reg_reads)
	cs=$(uptime_cs)
	cat "$1" > "$W/file"
	cs=$(($(uptime_cs) - cs))
	n=$(($(counter 0 reg_reads) - n))
	echo "$n register reads in $((cs * 10)) ms"
}

start a --queues 2 --packet 20ms --workgroups 64
wait_for 15 running "$(pid a)"
occupancy=$(echo "/sys/class/kfd/kfd/proc/$(pid a)"/stats_*/cu_occupancy)

step "at once"
took "$occupancy"
between $cs 0 5 "hundredths of a second"

step "20 ms each"
switch 0 slow 20
took "$occupancy"
[ $n -gt 4 ] || fail "$n reads"
between $cs $((n * 2 - 1)) $((n * 2 + n / 4 + 5)) "hundredths of a second for $n reads"
between "$(cat "$W/file")" 1 8 "CUs, counted over several packets"
expect_progress a

step "20 ms each, and then all ones"
switch 0 dead 1
took "$occupancy"
[ $n -gt 4 ] || fail "$n reads"
between $cs $((n * 2 - 1)) $((n * 2 + n / 4 + 5)) "hundredths of a second for $n reads"
switch 0 dead 0
switch 0 slow 0
took "$occupancy"
between $cs 0 5 "hundredths of a second"
stop a
