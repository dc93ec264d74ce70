# SPDX-License-Identifier: GPL-2.0-only
# A configuration: its tenants share one slot by weight. It is read again while they are held,
# without a switch; a bad one changes nothing; and a running guard is asked, and changed by a line.
# timeout: 180
. /t/lib.sh
. /t/guard.sh

# conf WEIGHT WEIGHT: of the tenants a and b
conf() {
	cat > "$W/conf" <<-EOF
		policy fair slots=1 slice=20ms linger=2ms
		tenant $(pid on) online
		tenant $(pid a) weight=$1
		tenant $(pid b) weight=$2
	EOF
}

# ratio LEAST-MOST: packets of b for ten of a, in the next seconds
ratio() {
	_a=$(count a) _b=$(count b)
	sleep 4
	_a=$(($(count a) - _a)) _b=$(($(count b) - _b))
	echo "packets: a $_a, b $_b"
	[ "$_a" -gt 0 ] || fail "a has no turn"
	between $((10 * _b / _a)) "${1%-*}" "${1#*-}" "packets of b for ten of a"
}

switches() { said_times '"event":"(suspend|resume)"'; }

start on --queues 1 --packet 5ms
kill -STOP "$(pid on)"
start a --queues 1 --packet 2ms
start b --queues 1 --packet 2ms

step "a cgroup has the weight that the kernel has for it"
root=/sys/fs/cgroup
[ -e $root/cgroup.procs ] || { mkdir -p $root; mount -t cgroup2 none $root; }
echo +cpu > $root/cgroup.subtree_control || fail "no cpu controller"
mkdir -p $root/weighed
echo 321 > $root/weighed/cpu.weight
printf 'tenant cgroup:/weighed\ntenant cgroup:/weighed weight=7\ntenant cgroup:/none\n' > "$W/conf"
gpreempt-ctl guard check "$W/conf" > "$W/get" || fail "the configuration is refused"
grep -qx "tenant cgroup:/weighed offline weight=321" "$W/get" || fail "$(cat "$W/get")"
grep -qx "tenant cgroup:/weighed offline weight=7" "$W/get" || fail "$(cat "$W/get")"
grep -qx "tenant cgroup:/none offline" "$W/get" || fail "$(cat "$W/get")"

step "weights 1:3 in one slot"
conf 100 300
gpreempt-ctl guard check "$W/conf" || fail "the configuration is refused"
guard --config "$W/conf" --json
wait_for 30 more_times '"event":"suspend".*"reason":"turn"' 8
ratio 20-42

step "read again while both are held: none is switched"
kill -CONT "$(pid on)"
both_held() { view_is "$(pid a)" active 0 && view_is "$(pid b)" active 0; }
wait_for 20 both_held
conf 300 100
n=$(switches)
kill -HUP "$g"
wait_for 10 said '"event":"config".*is in use'
sleep 1
[ "$(switches)" -eq "$n" ] || fail "switched by the new configuration: $(tail -3 "$W/guard")"
both_held || fail "released by the new configuration"

step "a bad one changes nothing"
echo "tenant comm:x weight=0" >> "$W/conf"
kill -HUP "$g"
wait_for 10 said "\"event\":\"config\".*conf:5: weight is a number"
both_held || fail "released by a bad configuration"
ends_with 2 20 "$W/refused" gpreempt-ctl guard check "$W/conf"

step "ask it, and change a line"
gpreempt-ctl guard get > "$W/get" || fail "guard get"
cat "$W/get"
grep -qx "tenant $(pid a) offline weight=300" "$W/get" || fail "not the last good one"
gpreempt-ctl guard set policy slice=10ms || fail "guard set"
gpreempt-ctl guard get | grep -q "^policy fair slots=1 slice=10ms" || fail "it is not changed"
ends_with 2 20 "$W/refused" gpreempt-ctl guard set tenant comm:none weight=3
both_held || fail "released by a change of a figure"

step "the new weights count"
kill -STOP "$(pid on)"
wait_for 20 said '"event":"resume".*"reason":"(idle|turn)"'
sleep 1
ratio 2-5

step "the end: all run"
end_guard
wait_for 15 running "$(pid a)"
wait_for 15 running "$(pid b)"
kill -CONT "$(pid on)"
expect_progress a
expect_progress b
stop on
stop a
stop b
