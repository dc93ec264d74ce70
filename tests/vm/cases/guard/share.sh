# SPDX-License-Identifier: GPL-2.0-only
# No process starves: offline keeps its share of a GPU on which online never rests,
# and a cap without any online process is kept, too.
# timeout: 120
. /t/lib.sh

guard() {
	setsid gpreempt-ctl guard "$@" > "$W/guard" 2>&1 &
	g=$!
	started="$started $g"
}

# share FROM-TO: percent of the time that offline ran, as guard says at the end
share_is() {
	kill -TERM "$g"
	wait "$g" || fail "guard ended with $?: $(cat "$W/guard")"
	tail -n 8 "$W/guard"
	_share=$(awk '$1 == "offline_share_percent" { print int($2) }' "$W/guard")
	between "$_share" "${1%-*}" "${1#*-}" "offline's share in percent"
}

start off --queues 2 --packet 5ms

step "online is flat out: a share of 30 % after each hold of 200 ms"
start on --queues 1 --packet 5ms
guard --online "$(pid on)" --offline "$(pid off)" --max-hold 200ms --offline-share 30% --verbose
wait_for 20 grep -q "^suspended $(pid off): arrival" "$W/guard"
c0=$(count off)
shared() { [ "$(grep -c "^resumed $(pid off): share" "$W/guard")" -ge 6 ]; }
wait_for 5 shared
[ "$(count off)" -gt "$c0" ] || fail "offline starves"
# 30 % of all but one hold of 200 ms, in the 1.7 s of six holds.
share_is 26-80
wait_for 15 running "$(pid off)"
stop on

step "a cap of 40 % without online"
# A period is 100 ms; of that, an emulated ioctl takes what it takes.
guard --offline "$(pid off)" --duty 40%
wait_for 20 grep -q "process $(pid off) is offline" "$W/guard"
sleep 4
share_is 35-90
grep -Eq '^resumed idle 0 share 0 duty [1-9][0-9]' "$W/guard" || fail "not by its duty"
wait_for 15 running "$(pid off)"
expect_progress off
stop off
