# SPDX-License-Identifier: GPL-2.0-only
# What list, queues, doctor and monitor print is what they print again from a
# recording, without module, GPU process, GPU and driver.
# timeout: 90
. /t/lib.sh

start a --queues 2 --sdma 1 --packet 1ms
p=$(pid a)
n=0
wait_for 15 running "$p"
for command in list "list --json" "queues $p --json" "queues comm:vgpu-load --queues 1" doctor \
	"doctor $p"; do
	step "$command"
	n=$((n + 1))
	# shellcheck disable=SC2086 # words
	gpreempt-ctl $command --record "$W/$n.rec" > "$W/$n.then" || fail "--record: $?"
	[ "$(stat -c %a "$W/$n.rec")" = 600 ] || fail "others can read the recording"
	echo "$command" > "$W/$n.command"
done
gpreempt-ctl monitor "$p" --csv --duration 200ms --interval 100ms --record "$W/m.rec" \
	> "$W/m.then" 2>/dev/null || fail "monitor --record"
gpreempt-ctl preempt "$p" --count 4 --hold 1ms --interval 1ms --json --record "$W/p.rec" \
	> "$W/p.then" || fail "preempt --record"
running "$p" || fail "it does not run"
ctl 2 suspend "$p" --record "$W/x"
says 'preempt makes the same calls and can be recorded'
ctl 2 preempt "$p" --replay "$W/p.rec" -- true
stop a
unload
wait_for 15 no_kfd_process
while [ "$n" -gt 0 ]; do
	# shellcheck disable=SC2046 # words
	gpreempt-ctl $(cat "$W/$n.command") --replay "$W/$n.rec" > "$W/$n.now" 2> "$W/err" ||
		fail "--replay of $(cat "$W/$n.command"): $? $(cat "$W/err")"
	# Locks and sockets of holders are not the library's.
	grep -v '^ok	run-directory' "$W/$n.then" | diff - "$W/$n.now" ||
		fail "$(cat "$W/$n.command"): another output than when it was recorded"
	n=$((n - 1))
done
gpreempt-ctl monitor "$p" --csv --duration 200ms --interval 100ms --replay "$W/m.rec" \
	2>/dev/null | cut -d , -f 2- | sort -u > "$W/m.now"
# How many samples there are in 200 ms is a matter of the host.
cut -d , -f 2- "$W/m.then" | sort -u | diff - "$W/m.now" || fail "monitor: another output"
# No such process, no holder, and no simulated GPU either.
step "preempt"
wait_for 5 rmmod vgpu
gpreempt-ctl preempt "$p" --count 4 --hold 1ms --interval 1ms --json --replay "$W/p.rec" \
	> "$W/p.now" || fail "preempt --replay: $?"
cat "$W/p.now"
for key in cycles succeeded "suspend_ioctl_us n" "resume_ioctl_us n" suspend_slots_us disturbed \
	"targets 0 pid" "verified yes" simulated error; do
	# shellcheck disable=SC2086 # words
	[ "$(json-value "$W/p.then" $key)" = "$(json-value "$W/p.now" $key)" ] || fail "$key differs"
done
[ "$(json-value "$W/p.now" verified yes)" = 4 ] || fail "nothing is verified"
[ "$(json-value "$W/p.now" simulated)" = true ] || fail "the label is lost"
# The driver takes as long as it took, in ns. What the command measured then may be more: it
# may have waited for a processor around the call.
then=$(awk '$1 == "trap:suspend" { print $5; exit }' "$W/p.rec")
awk -v then="$then" -v now="$(json-value "$W/p.now" first_suspend_us)" \
	'BEGIN { exit !(then > 0 && now * 1000 >= then - 50) }' || fail "quicker than it was"
ctl 5 preempt 1 --count 4 --replay "$W/p.rec"
echo nonsense > "$W/none"
ctl 1 list --replay "$W/none"
says_what_to_do 'it is no recording'
ctl 1 list --replay "$W/missing"
ctl 1 list --record /nowhere/x
says_what_to_do 'cannot record to /nowhere/x'
ctl 2 list --record "$W/x" --replay "$W/y"
