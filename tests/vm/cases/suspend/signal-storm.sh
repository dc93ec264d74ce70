# SPDX-License-Identifier: GPL-2.0-only
# Signals of a held target: by the thousand, each once and in order; stopped and
# continued; by the keys of a job-control shell; by "timeout".
# timeout: 90
. /t/steps.sh

step "3000 signals"
steps_start a open init queue
p=$(pid a)
hold "$p"
t0=$(uptime_cs)
queue-signals "$p" 3000
got_all() { take a signals > /dev/null; [ "$(said a signals)" = 3000 ]; }
wait_for 30 got_all
echo "$(($(uptime_cs) - t0))0 ms"
[ "$(said a disordered)" = 0 ] || fail "$(said a disordered) came out of order"
expect_suspended "$p"

step "stopped, resumed while it is stopped, continued"
state() { { read -r _ _ _s _ < "/proc/$p/stat"; } 2> /dev/null; echo "$_s"; }
state_is() { case $(state) in [$1]) ;; *) return 1 ;; esac; }
kill -STOP "$p"
wait_for 5 state_is tT
ctl 0 resume "$p"
wait_for 5 running "$p"
wait_for 5 not_traced "$p"
state_is T || fail "it is not stopped any more ($(state))"
step "suspended while it is stopped, and continued"
hold "$p"
state_is tT || fail "suspending it made it go on"
kill -CONT "$p"
take a signals
expect_suspended "$p"
kill -STOP "$p"
wait_for 5 state_is tT
step "killed while it is stopped and held"
end_time a kill -9 "$p"
[ $status -eq 137 ] && [ "$took" -le $((50 * SLOW)) ] || fail "status $status after ${took}0 ms"
expect_nothing_left "$p"

step "Ctrl-Z and fg in a shell with job control"
mkfifo "$W/keys"
on-terminal sh -i 0<> "$W/keys" > "$W/screen" 2>&1 &
started="$started $!"
echo "vgpu-load --packet 1ms --drain 0 > $W/b.out" > "$W/keys"
wait_for 15 is_ready b
p=$(awk '$1 == "ready" { print $3 }' "$W/b.out")
started="$started $p"
hold "$p"
printf '\032' > "$W/keys"
wait_for 5 state_is tT
wait_for 5 grep -q Stopped "$W/screen"
echo fg > "$W/keys"
next_lines b 2
expect_suspended "$p"
ctl 0 resume "$p"
expect_progress b
hold "$p"
printf '\003' > "$W/keys"
wait_for 15 grep -q '^done ' "$W/b.out"
wait_for 5 gone "$p"
expect_nothing_left "$p"

step "under timeout"
timeout 3 vgpu-load --packet 1ms --drain 0 > "$W/c.out" 2>&1 &
job=$!
wait_for 15 is_ready c
p=$(awk '$1 == "ready" { print $3 }' "$W/c.out")
hold "$p"
wait $job
wait_for 5 gone "$p"
expect_nothing_left "$p"
