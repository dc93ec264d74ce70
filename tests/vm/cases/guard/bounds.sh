# SPDX-License-Identifier: GPL-2.0-only
# The bounds of guard, by the order of what it does: linger, the longest hold, the
# least run, the share, the duty.
# timeout: 120
. /t/lib.sh
. /t/guard.sh

# gaps EVENT1 EVENT2: for each EVENT2 that follows an EVENT1 directly, the time
# between them in us; without what is behind the point
gaps() {
	sed -n 's/^{"event":"\(suspend\|resume\)","t_us":\([0-9]*\).*"reason":"\([a-z]*\)".*/\1-\3 \2/p' \
		"$W/guard" | awk -v a="$1" -v b="$2" '$1 == b && last == a { print $2 - t }
		{ last = $1; t = $2 }'
}

# long_gaps EVENT1 EVENT2 US: most of them are longer. A switch is reported when it is
# done: that is less what the one before it took, on a busy host.
long_gaps() {
	gaps "$1" "$2" | sort -n > "$W/gaps"
	echo "$1 $2: $(tr '\n' ' ' < "$W/gaps" | cut -c 1-120)"
	[ -s "$W/gaps" ] || fail "no $2 after a $1"
	[ "$(awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }' "$W/gaps")" -ge "$3" ] ||
		fail "a $2 comes too soon after a $1"
}

switches() { said_times '"event":"(suspend|resume)"'; }

start off --queues 2 --packet 5ms

step "linger: no resume in a pause of online that is shorter"
start on --queues 1 --packet 2ms --rate 20
guard --online "$(pid on)" --offline "$(pid off)" --linger 2s --max-hold 60s --poll 1ms --json
wait_for 20 said '"event":"suspend"'
c0=$(count on)
next_lines on 20
[ "$(($(progress on completed) - c0))" -ge 10 ] || fail "online had no work"
[ "$(said_times '"event":"resume"')" -eq 0 ] || fail "resumed between two packets"
kill -STOP "$(pid on)"
wait_for 20 said '"event":"resume".*"reason":"idle"'
kill -CONT "$(pid on)"
end_guard

step "without linger: on and off with each packet"
guard --online "$(pid on)" --offline "$(pid off)" --linger 0s --max-hold 60s --poll 1ms --json
wait_for 30 more_times '"event":"resume".*"reason":"idle"' 10
end_guard
stop on

step "a share of each period: held for the period, then run until it is had"
start on --queues 1 --packet 5ms
guard --online "$(pid on)" --offline "$(pid off)" --max-hold 300ms --offline-share 40 --json
wait_for 30 more_times '"event":"resume".*"reason":"share"' 4
wait_for 30 more_times '"event":"suspend"' 5
end_guard
long_gaps suspend-arrival resume-share 200000
long_gaps resume-share suspend-arrival 130000

step "a share of 0: nothing is owed"
guard --online "$(pid on)" --offline "$(pid off)" --max-hold 100ms --offline-share 0 --json
wait_for 20 said '"event":"suspend"'
sleep 1
[ "$(switches)" -eq 1 ] || fail "it was switched"
expect_view "$(pid off)" suspended 1
end_guard
wait_for 15 running "$(pid off)"
stop on

step "a duty: switched in turns, and by nothing else"
guard --offline "$(pid off)" --duty 30% --json
wait_for 30 more_times '"event":"resume".*"reason":"duty"' 10
end_guard
said '"reason":"(arrival|idle|share)"' && fail "switched for another reason"
share=$(sed -n 's/.*"offline_share_percent":\([0-9]*\).*/\1/p' "$W/guard")
between "$share" 20 80 "share of a duty of 30 %"
wait_for 15 running "$(pid off)"
stop off
