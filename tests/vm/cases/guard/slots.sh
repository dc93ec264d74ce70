# SPDX-License-Identifier: GPL-2.0-only
# When the slots of a preempted process are inactive: reported at the end,
# in each event and in the samples; unknown without the module. And the picture of
# all that. Long saves, so that the thread that looks has its turn while the driver waits.
# vgpu: save_ns=20000000
# timeout: 90
. /t/lib.sh
. /t/guard.sh

bars() { grep -c "^<rect .* fill=\"$1\"/>\$" "$W/picture.svg"; }
drawn() {
	[ -s "$W/picture.svg" ] && head -n 1 "$W/picture.svg" | grep -q '^<svg ' &&
		[ "$(tail -n 1 "$W/picture.svg")" = "</svg>" ]
}
ordered() { grep -q "\"event\":\"suspend\".*\"arrival_to_slots_us\":$1" "$W/guard"; }

start off --queues 2 --packet 2ms
start on --queues 1 --packet 50ms --rate 4

step "a picture or metrics that cannot be written are refused at once"
for bad in "$W" "$W/none/a" /dev/null; do
	ctl 1 guard --duty 50% --offline "$(pid off)" --timeline "$bad"
	says_what_to_do "timeline $bad cannot be written"
	ctl 1 guard --duty 50% --offline "$(pid off)" --metrics "$bad"
	says_what_to_do "metrics file $bad cannot be written"
done
[ -c /dev/null ] || fail "the device was replaced"

step "each preemption: after the arrival, and before the ioctl has long returned"
guard --online "$(pid on)" --offline "$(pid off)" --poll 1ms --samples "$W/samples" --verbose \
	--timeline "$W/picture.svg"
wait_for 30 more_times "^suspended $(pid off): arrival" 8
[ ! -e "$W/picture.svg" ] || fail "drawn before anybody asked"
kill -USR1 "$g"
wait_for 10 drawn
rm "$W/picture.svg"
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

step "the picture: a lane of each, work, suspensions"
drawn || fail "no picture: $(head -c 500 "$W/picture.svg")"
[ ! -e "$W/picture.svg.new" ] || fail "a part of it is left"
for name in on off; do
	grep -q "<text .*>$(pid $name) vgpu-load</text>\$" "$W/picture.svg" || fail "no lane of $name"
done
echo "work $(bars '#d9480f') runs $(bars '#1c7ed6') suspended $(bars '#868e96')"
[ "$(bars '#d9480f')" -ge 4 ] || fail "no work of online"
[ "$(bars '#1c7ed6')" -eq 1 ] || fail "offline does not run"
[ "$(bars '#868e96')" -ge 4 ] || fail "no suspensions"

step "in events; the slots cannot be read while the GPU is reset: null"
guard --online "$(pid on)" --offline "$(pid off)" --poll 1ms --samples "$W/samples" --json
wait_for 30 ordered '[0-9]'
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
