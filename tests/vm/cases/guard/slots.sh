# SPDX-License-Identifier: GPL-2.0-only
# When the slots of a preempted process are inactive: reported at the end,
# in each event and in the samples; unknown without the module. And the work of online,
# as events. Long saves, so that the thread that looks has its turn while the driver waits.
# vgpu: save_ns=20000000
# timeout: 90
. /t/lib.sh
. /t/guard.sh

ordered() { grep -q "\"event\":\"suspend\".*\"arrival_to_slots_us\":$1" "$W/guard"; }

start off --queues 2 --packet 2ms
start on --queues 1 --packet 50ms --rate 4

step "metrics that cannot be written are refused at once"
for bad in "$W" "$W/none/a" /dev/null; do
	ctl 1 guard --duty 50% --offline "$(pid off)" --metrics "$bad"
	says_what_to_do "metrics file $bad cannot be written"
done
[ -c /dev/null ] || fail "the device was replaced"

step "each preemption: after the arrival, and before the ioctl has long returned"
guard --online "$(pid on)" --offline "$(pid off)" --poll 1ms --samples "$W/samples" --verbose
wait_for 30 more_times "^suspended $(pid off): arrival" 8
end_guard
cat "$W/samples"
grep '^arrival' "$W/guard"
n=$(field arrival_to_slots_us n)
[ "$n" -ge 6 ] || fail "only $n preemptions were measured"
[ "$(field arrival_to_slots_us p50)" -gt 0 ] || fail "no figure"
head -n 1 "$W/samples" | grep -q "^# arrival_to_ioctl_ns.*arrival_to_slots_ns\$" || fail "no head"
[ "$(awk '!/^#/ && $3 != "-"' "$W/samples" | wc -l)" -eq "$n" ] || fail "not all samples are there"
awk '!/^#/ && $3 != "-" && $3 <= $1 { bad = 1 } END { exit bad }' "$W/samples" ||
	fail "slots are inactive before the ioctl"

step "in events; the slots cannot be read while the GPU is reset: null"
guard --online "$(pid on)" --offline "$(pid off)" --poll 1ms --samples "$W/samples" --json --verbose
wait_for 30 ordered '[0-9]'
wait_for 30 more_times "\"event\":\"busy\".*\"pid\":$(pid on)}" 2
wait_for 30 more_times "\"event\":\"idle\".*\"pid\":$(pid on)}" 2
says_guard "\"event\":\"joined\".*\"pid\":$(pid on),.*\"role\":\"online\",\"comm\":\"vgpu-load\"}"
switch 0 in_reset 1
wait_for 30 ordered null
switch 0 in_reset 0
end_guard

step "without the module: a duty is kept, and slots are not reported"
unload
guard --offline "$(pid off)" --duty 50% --json
wait_for 20 more_times '"event":"resume"' 3
end_guard
said '"event":"summary".*"arrival_to_slots_us":null' || fail "not null"
said '"arrival_to_slots_us":[0-9{]' && fail "slots without the module"
c0=$(count off)
next_lines off 3
[ "$(progress off completed)" -gt "$c0" ] || fail "offline does not run"
stop on
stop off
