# SPDX-License-Identifier: GPL-2.0-only
# evicted_ms never runs backwards and never says more than there was, also while the driver is
# between the two writes of an eviction or of its end: it is "-" then. A thousand evictions.
# timeout: 400
# clock: real a reader looks while the driver waits in the middle of an eviction
. /t/lib.sh

# usages: evicted and evicted_ms in all lines of both files of usage, behind the times in ms
# before and after the read, until $W/end is there
usages() {
	while [ ! -e "$W/end" ]; do
		cut -d' ' -f1 /proc/uptime
		cat "$DEBUGFS/gpreempt/usage" "$VIEW/$p/usage"
	done | awk -v pid="$p" '
		$1 == "#" { for (i = 2; i <= NF; i++) at[$i] = i - 1; next }
		NF == 1 {
			for (i = 1; i <= n; i++)
				print now, $1 * 1000, cells[i]
			fflush()
			n = 0
			now = $1 * 1000
			next
		}
		NF > 3 && $at["pid"] == pid { cells[++n] = $at["evicted"] " " $at["evicted_ms"] }' \
		> "$W/usages"
}

# rises SLACK: evicted_ms in $W/usages does. No more than the time that went by, and SLACK ms
rises() {
	awk -v slack="$1" '
		$4 == "-" { unknown++; next }
		!looks++ { first = last = $4; start = $1 }
		$4 < last { print "FAIL: " $4 " after " last; bad = 1; exit }
		$4 - first > $2 - start + slack {
			print "FAIL: " $4 - first " ms in " $2 - start " ms"
			bad = 1
			exit
		}
		{ last = $4 }
		END {
			if (bad) exit 1
			print looks " looks, " unknown + 0 " unknown, from " first " to " last " ms"
			exit !(looks > 5 && last > first)
		}' "$W/usages" || fail "evicted_ms"
}

# look COMMAND...: while it runs
look() {
	rm -f "$W/end"
	: > "$W/usages"
	usages &
	_u=$!
	"$@"
	: > "$W/end"
	wait $_u
}

# The driver writes three times for an eviction and its end.
waited() { [ "$(cat "$VGPU/slow_evict")" -ge "$1" ]; }

# There are so many looks that fell between two writes: a busy host has few.
looked() { [ "$(grep -vc -e '-$' "$W/usages")" -ge "$1" ]; }

thrice() {
	for _n in 1 2 3; do
		echo "$p" > "$VGPU/evict"
		wait_for 30 waited $((3 * _n))
		wait_for 30 looked $((2 * _n))
	done
}

start a --queues 4 --packet 1ms
p=$(pid a)
wait_for 15 running "$p"

step "the driver waits for 200 ms behind each of its writes"
echo "$p 200" > "$VGPU/slow_evict" || fail "cannot watch the driver's writes"
look thrice
echo 0 0 > "$VGPU/slow_evict"
rises 50

step "1,000 evictions"
look pause-bench "$p" 1 1000 > "$W/bench"
grep -q pause_ioctl_us "$W/bench" || fail "the pauses did not end"
rises 50
stop a
