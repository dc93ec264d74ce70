# SPDX-License-Identifier: GPL-2.0-only
# While the driver holds a process's lock (here: an unmap of 6 s) every file can
# be read, at once: facts have an age, slots are live.
# timeout: 120
. /t/lib.sh

T=$DEBUGFS/gpreempt
start a --queues 2 --packet 1ms
p=$(pid a)
wait_for 15 running "$p"
ctl 0 suspend "$p" --queues 0
# The driver gives up after 9 s. What waits for the lock takes most of that time.
unmap=$((SLOW > 1 ? 8 : 6))
echo ${unmap}000000000 > "$VGPU/0/unmap_ns"
gpreempt-ctl suspend "$p" > "$W/suspend" 2>&1 &
s=$!

# No other program before that: a slow guest hardly gets to run one meanwhile.
age=0
while [ "$age" -eq 0 ] && alive $s; do
	{ read -r _ && read -r _ && read -r _ _ _ _ _ _ _ _ age _; } < "$VIEW/$p/queues"
done
(cd "$T" && cat "pid/$p/queues" "pid/$p/hqds" processes "pid/$p/gpus" nodes) > "$W/all" ||
	fail "cannot be read"
alive $s || fail "they waited for the driver"
cat "$W/all"
awk -v dir="$W" '/^gpreempt-/ { file = dir "/" $1 } { print > file }' "$W/all"
for f in queues hqds processes gpus nodes; do
	[ "$(wc -l < "$W/gpreempt-$f")" -gt 2 ] || fail "$f has no line"
done
awk 'NR > 2 && $9 == 0 { exit 1 }' "$W/gpreempt-queues" || fail "age_ms of queues does not tell"
# The slots of queue 1 are still held: the unmap is under way.
[ "$(awk 'NR > 2 && $1 == 1 && $12 > 0' "$W/gpreempt-hqds" | wc -l)" -eq 4 ] || fail "hqds"
awk -v p="$p" '$1 == p && $15 > 0 { found = 1 } END { exit !found }' "$W/gpreempt-processes" ||
	fail "age_ms of processes does not tell"
[ "$(awk '$1 == "process_busy" { print $2 }' "$T/stats")" -gt 0 ] || fail "stats"
wait $s
echo 10000 > "$VGPU/0/unmap_ns"
expect_suspended "$p"
[ "$(awk 'NR > 2' "$VIEW/$p/hqds" | wc -l)" -eq 0 ] || fail "slots of a suspended process"
release_target "$p"
stop a
