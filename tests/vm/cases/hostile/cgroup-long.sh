# SPDX-License-Identifier: GPL-2.0-only
# A tenant gives its cgroup a path that no program can read: of 4,096 bytes or more newer
# kernels print the beginning and older ones nothing. It is held like any other, by follow
# and by guard: moved before it was ever seen, while it runs and while it is frozen.
# timeout: 300
. /t/cgroup.sh

# deep DIRECTORY LEVELS LABEL: names of 190 letters, moved by the tenant
deep() {
	as-user deep-cgroup "$1" "$2" 190 "$(pid "$3")" || fail "not moved"
}

# unreadable LABEL: $role is then what list has of it
unreadable() {
	role=offline
	if ! cat "/proc/$(pid "$1")/cgroup" > "$W/path" 2> "$W/cat"; then
		grep -q 'name too long' "$W/cat" || fail "$(cat "$W/cat")"
		role=unknown
	elif [ "$(wc -c < "$W/path")" -ne $((3 + 4095 + 1)) ]; then
		fail "its path can be read"
	fi
}

# How often the follower of a wakes in two seconds: in $woken.
count_woken() {
	_f=$(holder_of "$(pid a)")
	_before=$(switches)
	sleep 2
	woken=$(($(switches) - _before))
}

switches() {
	awk '/^voluntary/ { print $2 }' "/proc/$_f/status"
}

start a --queues 2 --packet 1ms
start b --queues 1 --packet 1ms

step "the longest path that can be read, and one that cannot; it is frozen when it moves"
tenant a
follow --how debug
wait_for 20 said "^following $(pid a): its signals and its cgroup /tenant/z"
freeze 1
off "$(pid a)"
count_woken
normal=$woken
deep $T/y 21 a
[ "$(wc -c < "/proc/$(pid a)/cgroup")" -gt 4000 ] || fail "the path is short"
off "$(pid a)"
deep $T/y 42 a
unreadable a
off "$(pid a)"
freeze 0
runs a
freeze 1
off "$(pid a)"

step "its last known cgroup is gone, and nothing turns in a circle"
rmdir $T/z
count_woken
echo "woken $normal times in 2 s, and then $woken times"
[ "$woken" -le $((2 * normal + 10)) ] || fail "its follower is woken $woken times"
off "$(pid a)"

step "one that was never seen before"
freeze 0
said "^following $(pid b)" && fail "it has no role yet"
echo "$(pid b)" > $T/y/cgroup.procs
end_follow
deep $T/y 42 b
unreadable b
for p in $(pid a) $(pid b); do
	ctl 0 list "$p"
	says "^$p	.*	$role	"
	ctl 5 list role:online
	ctl 0 list role:offline
	says "^$p	"
done
follow --how pause
wait_for 20 said "^following $(pid b): "
runs b
freeze 1
off "$(pid a)"
off "$(pid b)"
freeze 0
runs a
runs b
end_follow

step "guard"
guard --online role:online --offline role:offline --follow --how pause --verbose
wait_for 30 said "process $(pid a) is offline"
wait_for 30 said "process $(pid b) is offline"
freeze 1
off "$(pid a)"
off "$(pid b)"
freeze 0
runs a
runs b
end_guard
stop a
stop b
