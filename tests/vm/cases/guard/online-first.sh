# SPDX-License-Identifier: GPL-2.0-only
# Online before offline: offline is off the GPU while online has work, and back
# when it has none; figures at the end and on SIGUSR1; nothing is lost.
# tier: gate
# timeout: 120
. /t/lib.sh

guard() {
	setsid gpreempt-ctl guard "$@" > "$W/guard" 2>&1 &
	g=$!
	started="$started $g"
}

says_guard() { grep -Eq -e "$1" "$W/guard" || fail "guard did not say '$1'"; }
# field NAME KEY: out of a line such as "name n=1 p50=2"
field() { awk -v name="$1" -v key="$2" '$1 == name { for (i = 2; i <= NF; i++)
	if (split($i, w, "=") == 2 && w[1] == key) v = int(w[2]) } END { print v + 0 }' "$W/guard"; }
# asked for its figures, it has measured two preemptions
measured() { kill -USR1 "$g"; [ "$(field arrival_to_ioctl_us n)" -ge 2 ]; }

step "usage"
ctl 2 guard --offline 1
says_what_to_do "--online TARGET"
ctl 2 guard --online 1
says_what_to_do "--offline TARGET"
ctl 2 guard --online 1 --offline 2 --duty 30%
says_what_to_do "without --online"
ctl 2 guard --online 1 --offline 2 --poll often
says_what_to_do "busy, adaptive"
ctl 2 guard --online 1 --offline 2 --offline-share 95%
says_what_to_do "90%"

step "online comes twice a second, 100 ms each; offline is flat out"
start off --queues 2 --packet 10ms
start on --queues 1 --packet 100ms --rate 2
guard --online "$(pid on)" --offline "comm:none" "$(pid off)" --verbose --poll 1ms \
	--metrics "$W/metrics" --samples "$W/samples"
wait_for 20 grep -q "^suspended $(pid off): arrival, 2 of 2 queues" "$W/guard"
wait_for 20 grep -q "^resumed $(pid off): idle" "$W/guard"
expect_progress off

step "a signal asks for the figures"
wait_for 20 measured

step "online is stopped: nothing is preempted any more, and offline runs"
stop on
wait_for 10 grep -q "process $(pid on) is not online any more" "$W/guard"
wait_for 15 running "$(pid off)"
expect_progress off

step "the end: figures, samples, metrics; offline runs"
kill -INT "$g"
wait "$g" || fail "guard ended with $?: $(cat "$W/guard")"
cat "$W/guard" | tail -n 9
n=$(field arrival_to_ioctl_us n)
[ "$(field arrival_to_ioctl_us p50)" -le "$(field arrival_to_suspended_us p50)" ] ||
	fail "suspended before the ioctl"
[ "$(grep -vc '^#' "$W/samples")" -eq "$n" ] || fail "not all samples are there"
grep -q '^gpreempt_guard_targets{.*role="offline"} 1' "$W/metrics" || fail "metrics"
grep -q "^gpreempt_guard_arrival_to_ioctl_seconds_count{.*} $n\$" "$W/metrics" ||
	fail "the metrics have not $n arrivals"
grep -q '^gpreempt_guard_simulated{.*} 1' "$W/metrics" || fail "simulated"
says_guard '^offline_share_percent [5-9][0-9]\.'
wait_for 15 running "$(pid off)"
grep -q 'TracerPid:[[:space:]]*0' "/proc/$(pid off)/status" || fail "it is still traced"
expect_progress off
nothing_held || fail "something is held"

step "JSON: each line an object; busy polling"
start on --queues 1 --packet 20ms --rate 5
guard --online "$(pid on)" --offline "$(pid off)" --json --poll busy --cpu 0
wait_for 20 grep -q '"event":"resume"' "$W/guard"
kill -TERM "$g"
wait "$g" || fail "guard ended with $?"
[ "$(grep -vc '^{"event":".*}$' "$W/guard")" -eq 0 ] || fail "not all lines are objects"
grep -q '"event":"suspend".*"reason":"arrival".*"simulated":true' "$W/guard" || fail "no event"
grep -q '"event":"summary"' "$W/guard" || fail "no summary"
stop on
stop off
