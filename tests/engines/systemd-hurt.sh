# SPDX-License-Identifier: GPL-2.0-only
# gpreempt-guard@ under systemd: it starts, suspends and resumes by a pause and by a debug
# session. It is stopped, hangs (the watchdog ends it) and all of it is killed at once: the
# queues run, the unit comes back and works, and the journal has the reason: systemd's
# watchdog comes first, and guard's own timer ends what that one's SIGABRT does not.
# timeout: 300
. /t/lib.sh
. /t/engines.sh

g=gpreempt-guard@test.service
mkdir -p /etc/gpreempt

# configure OPTIONS
configure() {
	cat > /etc/gpreempt/guard-test.conf <<-END
		ONLINE=cgroup:/system.slice/on.service
		OFFLINE=cgroup:/system.slice/off.service
		OPTIONS=--verbose --poll 20ms $1
	END
}

# restarts: how often systemd has started it again
restarts() { systemctl show -P NRestarts $g; }
restarted() { [ "$(restarts)" -gt "$1" ] && is_active $g; }
main_pid() { systemctl show -P MainPID $g; }

# works: arrival suspends, idle resumes, each once more than before
how_often() { journalctl --quiet --no-pager -o cat -u $g | grep -Ec -e "$1"; }
more() { [ "$(how_often "$1")" -gt "$2" ]; }
works() {
	_s=$(how_often "^suspended $(pid off): arrival, 2 of 2 queues")
	_r=$(how_often "^resumed $(pid off): idle")
	wait_for 60 more "^suspended $(pid off): arrival, 2 of 2 queues" "$_s"
	wait_for 60 more "^resumed $(pid off): idle" "$_r"
}

unit off --queues 2 --packet 2ms --rate 50
unit on --queues 1 --packet 200ms --rate 1

for how in pause debug; do
	step "guard by $how, under the unit's filter"
	configure "--how $how"
	timeout $((60 * PACE)) systemctl start $g || fail "start: $(systemctl status $g)"
	works
	systemctl stop $g
	wait_for 15 running "$(pid off)"
	nothing_left
done

# The journal has one more of each than when they were counted.
timeouts='Watchdog timeout'
kills='code=killed, status=9/KILL'
aborts='status=6/ABRT'
count_ends() { t=$(how_often "$timeouts") k=$(how_often "$kills") a=$(how_often "$aborts"); }

step "stopped: systemd's watchdog ends it (SIGCONT follows its SIGABRT), and it comes back"
configure "--how pause"
systemctl start $g
works
n=$(restarts)
count_ends
kill -STOP "$(main_pid)"
wait_for 60 restarted "$n"
wait_for 15 more "$timeouts" "$t"
wait_for 15 more "$aborts" "$a"
! more "$kills" "$k" || fail "its own timer was first"
works

step "its main thread hangs, and takes no SIGABRT: systemd has the reason, its own timer ends it"
n=$(restarts)
count_ends
debugger "$(main_pid)" stop 80 > "$W/debugger" 2>&1 &
started="$started $!"
wait_for 60 restarted "$n"
wait_for 15 more "$timeouts" "$t"
wait_for 15 more "$kills" "$k"
works

step "the watchdog's SIGABRT makes a core dump, which hangs: its own timer ends that, and no wait"
n=$(restarts)
count_ends
pattern=$(cat /proc/sys/kernel/core_pattern)
echo '|/bin/busybox sleep 300' > /proc/sys/kernel/core_pattern
NOTIFY_SOCKET=/run/systemd/notify systemd-notify --pid="$(main_pid)" WATCHDOG=trigger
wait_for 60 restarted "$n"
wait_for 15 logged $g 'Watchdog request'
wait_for 15 more "$kills" "$k"
echo "$pattern" > /proc/sys/kernel/core_pattern
works
! logged $g "'stop-watchdog' timed out" || fail "systemd had to end it"

step "all of it is killed at once: repaired, and it comes back"
for i in 1 2 3; do
	n=$(restarts)
	systemctl kill -s KILL --kill-whom=all $g
	wait_for 60 restarted "$n"
	works
done

step "it is stopped: nothing is left"
systemctl stop $g
wait_for 15 running "$(pid off)"
nothing_left
expect_progress off
for l in on off; do
	systemctl stop $l
	ended_well $l
done
