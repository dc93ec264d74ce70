# SPDX-License-Identifier: GPL-2.0-only
# A tenant has 20 processes in a cgroup that is 1,995 levels deep. All that they do is to have
# /dev/kfd open. follow and guard, as the service manager starts them, beat in time, and list
# takes little more for them than the kernel, for which the path of a cgroup costs the square
# of the depth.
# timeout: 300
. /t/cgroup.sh

N=20

# openers N: processes that have /dev/kfd open; their PIDs are in $pids
openers() {
	for _ in $(seq "$1"); do
		sh -c 'exec 3<> /dev/kfd && sleep 1000' &
		started="$started $!"
		pids="$pids $!"
	done
}

in_kfd() {
	[ "$(ls /sys/class/kfd/kfd/proc | wc -l)" -ge "$1" ]
}

# Each beat came no later than half of the watchdog's time after the one before.
in_time() {
	awk '/WATCHDOG=1/ { n++; if (last && $1 - last > 2500) { print $1 - last; late = 1 }; last = $1 }
		END { exit n < 4 || late }' "$W/beats"
}

# us COMMAND...: of CPU. Emulated, so only ratios tell something.
us() {
	user-time 1 "$@" | awk '{ print $2 + $4 }'
}

cost() {
	echo "$(us gpreempt-ctl list) $(us gpreempt-ctl metrics) $(us gpreempt-ctl list role:online)"
}

# fits DEEP SAME READ: twice as long as with others, and one look at each path
fits() {
	echo "$1 $2 $3" | awk '{ for (i = 1; i <= 3; i++) if ($i > 2 * $(i + 3) + 1.3 * $7) exit 1 }'
}

openers 64
pids=
openers $N
wait_for 60 in_kfd $((64 + N))
same=$(cost)

step "role: and list with $N that are deep"
tenant
for p in $pids; do
	echo "$p" > $T/z/cgroup.procs
done
# shellcheck disable=SC2086
as-user deep-cgroup $T/y 1995 1 $pids || fail "not moved"
deep=$(cost)
# shellcheck disable=SC2086
read=$(us cat $(printf '/proc/%d/cgroup ' $pids))
echo "us of list, metrics and list role:online: $same, and $deep with $N that are deep"
echo "to read their paths: $read us"
fits "$deep" "$same" "$read" || fail "it takes longer than the kernel"
ctl 0 list role:offline
[ "$(grep -c '	offline	' "$W/ctl")" -eq $N ] || fail "not all of them are offline"

step "beats of follow and guard, which ask for all roles"
ctl 0 role none cgroup:/tenant
notify-log "$W/socket" >> "$W/beats" &
started="$started $!"
export NOTIFY_SOCKET="$W/socket" WATCHDOG_USEC=5000000
follow --how pause
sleep 10
in_time || fail "follow: $(cat "$W/beats")"
end_follow
: > "$W/beats"
guard --online role:online --offline role:offline --how pause
sleep 10
in_time || fail "guard: $(cat "$W/beats")"
end_guard
