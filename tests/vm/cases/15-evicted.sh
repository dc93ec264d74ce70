# SPDX-License-Identifier: GPL-2.0-only
# The driver evicts a process, as it does when memory gets short, and restores
# it by itself: the view tells that from a suspend, and nothing is lost.
# timeout: 90
. /t/lib.sh

# see PID SUSPENDED: looks without a pause, and without another program, until the
# view says "evicted" with no slot held.
see() {
	seen=0 end=$(($(uptime_cs) + 300))
	while [ $seen -eq 0 ] && [ "$(uptime_cs)" -lt $end ]; do
		while read -r _ _ _ _ suspended evicted active _; do
			[ "$suspended$evicted$active" != "${2}10" ] || seen=1
		done < "$VIEW/$1/queues"
	done
	[ $seen -eq 1 ]
}

# The eviction lasts a few tenths of a second, in which a busy host may not let us
# look at all.
evict() {
	for _try in 1 2 3 4 5; do
		echo "$1" > "$VGPU/evict" || fail "cannot evict"
		see "$@" && return
	done
	fail "the view did not show the eviction"
}

start a --queues 2 --packet 1ms
p=$(pid a)
wait_for 15 running "$p"
evict "$p" 0
wait_for 15 running "$p"
expect_view "$p" evicted 0
expect_progress a

step "evicted while suspended: it stays off when the driver restores it"
hold "$p"
evict "$p" 1
wait_for 15 view_is "$p" evicted 0
expect_suspended "$p"
expect_no_progress a
let_go "$p"
stop a
