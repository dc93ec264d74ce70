# SPDX-License-Identifier: GPL-2.0-only
# What usage says of evictions: none, one that goes on (a pause), and one that is over,
# which KFD's own figure has, too. One line for each GPU with an address space.
# vgpu: gpus=2
. /t/lib.sh

# usage COLUMN: of the process on its first GPU
usage() {
	awk -v name="$1" '$1 == "#" { for (i = 2; i <= NF; i++) at[$i] = i - 1 }
		NR == 3 { print $at[name] }' "$VIEW/$p/usage"
}
# KFD's figure for the GPU of the same line: GPUs are evicted one after the other.
kfd_ms() { cat /sys/class/kfd/kfd/proc/"$p"/stats_$(($(usage gpu_id)))/evicted_ms; }

start a --queues 2 --packet 1ms
start b --gpus 0,1 --packet 1ms
p=$(pid a)
wait_for 15 running "$p"
wait_for 15 running "$(pid b)"
cat "$VIEW/$p/usage"
[ "$(usage evicted) $(usage evicted_ms)" = "0 0" ] || fail "evicted at the beginning"
[ "$(usage gpu_id)" = "$(view "$p" gpu_id | head -n 1)" ] || fail "another GPU than its queues"
[ "$(awk 'NR > 2' "$VIEW/$(pid b)/usage" | wc -l)" -ge 2 ] || fail "not two GPUs"

step "all processes in one file"
cat "$VIEW/../usage"
counts() { awk '$1 == "wave_counts" { print $2 }' "$DEBUGFS/gpreempt/stats"; }
all() {
	awk -v names="pid gpu_id queues hardware evicted suspended waves_max" '
		$1 == "#" { for (i = 2; i <= NF; i++) at[$i] = i - 1 }
		NR > 2 { n = split(names, name, " ")
			for (i = 1; i <= n; i++) printf "%s%s", $at[name[i]], i < n ? " " : "\n" }' \
		"$@" | sort
}
all "$VIEW/../usage" >/tmp/all
# The file of a process has the nodes without queues, too.
{ all "$VIEW/$p/usage"; all "$VIEW/$(pid b)/usage"; } | awk '$3 > 0' | sort >/tmp/each
cat /tmp/each
cmp /tmp/all /tmp/each || fail "usage differs from the files of the processes"
[ "$(wc -l </tmp/all)" -ge 2 ] || fail "not two lines"
before=$(counts)
cat "$VIEW/../usage" >/dev/null
xccs=$(awk '$1 == "#" { for (i = 2; i <= NF; i++) at[$i] = i - 1 }
	NR > 2 { n += $at["xccs"] } END { print n }' "$VIEW/../nodes")
[ $(($(counts) - before)) -le "$xccs" ] || fail "an XCC was counted twice"

step "a pause"
ctl 0 suspend "$p" --how pause --for 1m
sleep 0.3
first=$(usage evicted_ms)
sleep 0.5
[ "$(usage evicted)" = 1 ] || fail "not evicted"
between $(($(usage evicted_ms) - first)) 450 700 "ms more after 0.5 s"
[ "$(kfd_ms)" -eq 0 ] || fail "KFD has the eviction that goes on, too"

step "its end"
ctl 0 resume "$p"
wait_for 15 running "$p"
[ "$(usage evicted)" = 0 ] || fail "evicted still"
[ "$(usage evicted_ms)" -eq "$(kfd_ms)" ] || fail "$(usage evicted_ms) ms, KFD says $(kfd_ms)"
stop a
stop b
