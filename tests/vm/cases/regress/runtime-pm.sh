# SPDX-License-Identifier: GPL-2.0-only
# Readers of the view and runtime PM: they leave the use count as it was, whatever the
# state of the GPU, do not wake it, and do not keep one awake that has no user. A look at
# nodes twice a second once started its autosuspend delay again each time.
# timeout: 120
# driver: any
. /t/lib.sh

T=$DEBUGFS/gpreempt
POWER=/sys/bus/pci/devices/0001:00:00.0/power
DELAY=2000

power() { cat "$POWER/$1"; }
status_is() { [ "$(power runtime_status)" = "$1" ]; }
usage_is() { [ "$(power runtime_usage)" -eq "$1" ]; }
hardware() { awk 'NR == 3 { print $8 }' "${1:-$T/nodes}"; }

# same STATE: all files of the view, read in this state, change no count and no status
same() {
	_before="$(power runtime_usage) $(power runtime_status)"
	for _f in "$T/nodes" "$T/processes" "$VIEW"/*/queues "$VIEW"/*/hqds; do
		[ ! -f "$_f" ] || cat "$_f" > "$W/file" || fail "$1: $_f cannot be read"
		_after="$(power runtime_usage) $(power runtime_status)"
		[ "$_after" = "$_before" ] ||
			fail "$1: use count and status were $_before, and are $_after after $_f"
	done
	echo "$1: hardware $(hardware), use count and status $_before"
}

step "without runtime PM"
same "not in use"
start a --queues 2 --sdma 1 --packet 1ms
p=$(pid a)
wait_for 15 running "$p"
same "in use"
stop a
wait_for 15 no_kfd_process

step "with runtime PM: a process that uses the GPU keeps it awake"
start a --queues 2 --sdma 1 --packet 1ms
p=$(pid a)
wait_for 15 running "$p"
switch 0 autosuspend $DELAY
usage_is 1 || fail "use count $(power runtime_usage) with one process"
same "in use"
for how in in_reset stopped gfxoff sriov apu dead no_access; do
	switch 0 $how 1
	same $how
	switch 0 $how 0
	wait_for 15 running "$p"
done
hold "$p"
same "suspended"
sleep 4
status_is active || fail "a GPU in use is $(power runtime_status)"
release_target "$p"
stop a

step "asleep once the process is gone, and no reader wakes it"
wait_for 15 status_is suspended
usage_is 0 || fail "use count $(power runtime_usage) of a GPU without a user"
same "asleep"
[ "$(hardware)" = asleep ] || fail "nodes says $(hardware)"
[ "$(counter 0 reg_reads_asleep)" -eq 0 ] || fail "registers were read while it was asleep"

step "awake for a new process"
start b --packet 1ms
status_is active || fail "$(power runtime_status) with a process"
same "in use again"
stop b

step "it falls asleep beside a reader, two looks a second"
wait_for 15 no_kfd_process
now_cs
from=$_cs awake=
until status_is suspended; do
	cat "$T/nodes" > "$W/nodes"
	awake="$awake $(hardware "$W/nodes")"
	now_cs
	[ $((_cs - from)) -le $((DELAY / 10 + 100)) ] ||
		fail "$(power runtime_status) for $(((_cs - from) * 10)) ms beside a reader; the" \
			"delay is $DELAY ms; nodes said$awake"
	sleep 0.5
done
now_cs
echo "asleep after $(((_cs - from) * 10)) ms; nodes said$awake"
case $awake in
*read*) fail "nodes calls a GPU without a user 'read':$awake" ;;
*unused*) ;;
*) fail "nodes never said unused:$awake" ;;
esac
[ "$(counter 0 reg_reads_asleep)" -eq 0 ] || fail "registers were read while it was asleep"
switch 0 autosuspend 0
status_is active || fail "$(power runtime_status) without runtime PM"
