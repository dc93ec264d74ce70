# SPDX-License-Identifier: GPL-2.0-only
# guard with an online process that comes and goes, while its worker is killed, offline
# is killed and another command asks for the same: offline is never left behind.
# timeout: 60
. /t/races.sh
. /t/guard.sh

start a --queues 2 --packet 1ms --rate 50
start b --queues 1 --packet 1ms --rate 50
p=$(pid a) q=$(pid b)
chaos_begin
guard --online comm:online --offline "$p" "$q" --verbose
ln -sf "$(command -v vgpu-load)" /tmp/online
wait_for 20 said "process $p is offline"

step "online comes and goes"
for _ in 1 2; do
	/tmp/online --packet 5ms --rate 50 > /dev/null 2>&1 &
	on=$!
	wait_for 20 said "process $on is online"
	later 60
	case $_ in
	1) kill_holder "$p" holder ;;
	2) kill -9 "$q" ;;
	esac
	run suspend "$p"
	later 30
	kill -9 $on
	ended 0 1 3 7
	run resume "$p"
	ended 0 7
done
wait_for 15 running "$p"

step "guard ends while online has work"
/tmp/online --packet 5ms --rate 50 > /dev/null 2>&1 &
on=$!
wait_for 20 said "process $on is online"
later 40
draw 2
if [ "$drawn" -eq 0 ]; then
	kill -KILL "$g"
	wait "$g"
else
	end_guard
fi
kill -9 $on
# Its worker, which has the target until its own end, may be a moment behind.
run resume "$p"
ended 0 7
rm -f /run/gpreempt-guard.sock
all_free a
