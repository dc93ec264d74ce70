# SPDX-License-Identifier: GPL-2.0-only
# Online processes that come join guard within 100 ms, by guard's own clock, and are
# found by their cgroup, command line and name; one that has both roles is refused.
# tier: gate
# timeout: 60
. /t/lib.sh
. /t/guard.sh

C=/sys/fs/cgroup
mkdir $C/online
ln -s "$(command -v vgpu-load)" /tmp/serving

# joined_us PID: the last time
joined_us() {
	sed -n "s/.*\"event\":\"joined\".*\"clock_us\":\([0-9]*\).*\"pid\":$1,.*/\1/p" "$W/guard" |
		tail -n 1
}

joined() { said "\"joined\".*\"process $1 is online\""; }

start on --queues 1 --packet 20ms
guard --json --online cgroup:/online comm:serving "cmd:--packet 7ms" --offline "cmd:--packet 3ms"
wait_for 20 test -S /run/gpreempt-guard.sock

step "a process comes into a cgroup"
for i in 1 2 3 4; do
	t=$(uptime_cs)0000
	echo "$(pid on)" > $C/online/cgroup.procs
	wait_for 20 more_times "\"process $(pid on) is online\"" "$i"
	took=$(($(joined_us "$(pid on)") - t))
	echo "$took us"
	[ $took -ge 0 ] || fail "it joined before it came"
	# Two looks, each at most 60 ms after the one before. The shell's clock has steps of 10 ms.
	[ $took -le $((130000 * SLOW)) ] || fail "it joined after $took us"
	echo "$(pid on)" > $C/cgroup.procs
	wait_for 20 more_times "\"process $(pid on) is not online any more\"" "$i"
done

step "by its name, by its command line"
PROGRAM=/tmp/serving start name --queues 1 --packet 1ms
wait_for 20 joined "$(pid name)"
start words --queues 1 --packet 7ms
wait_for 20 joined "$(pid words)"

step "one that has both roles"
PROGRAM=/tmp/serving start both --queues 1 --packet 3ms
wait_for 20 said "\"process $(pid both) is left alone: it is named as online and as offline\""
end_guard
