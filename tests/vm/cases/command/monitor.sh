# SPDX-License-Identifier: GPL-2.0-only
# monitor: samples and what they come to; a queue that comes; --csv and --json;
# Ctrl-C; the target's end; not as a tracer; without the module.
# timeout: 90
. /t/lib.sh

tab=$(printf '\t')
start a --queues 2 --packet 1ms
p=$(pid a)
wait_for 15 running "$p"

step "nothing changes"
ctl 0 monitor "$p" --duration 1s --interval 250ms
grep -q "^# t_s${tab}pid${tab}queues${tab}active${tab}" "$W/ctl" || fail "no names of columns"
[ "$(grep -c "^[0-9.]*$tab$p${tab}2${tab}" "$W/ctl")" -ge 3 ] || fail "too few samples"
says "^# process $p: [3-5] samples in 1\.[0-9] s, 0 missed$"
says '^#   queues mean 2\.0 min 2 max 2 stable'
says '^#   queue 0 in ([3-5]) of \1 samples'
says '^#   queue 1 in '

step "a queue comes; it is not traced; Ctrl-C"
gpreempt-ctl monitor comm:vgpu-load --duration 0s --interval 100ms > "$W/ctl" 2>&1 &
m=$!
wait_for 10 grep -q "${tab}0,1$" "$W/ctl"
not_traced "$p" || fail "it is traced"
kill -USR2 "$p"
wait_for 10 grep -q "${tab}0,1,2$" "$W/ctl"
kill -INT $m
wait $m || fail "Ctrl-C: status $?"
cat "$W/ctl"
says 'queues mean 2\.[0-9] min 2 max 3 not stable'
says '  queue 2 in '

step "CSV, one queue of it"
gpreempt-ctl monitor "$p" --csv --queues 1 --duration 200ms --interval 100ms \
	> "$W/csv" 2> "$W/ctl" || fail "--csv"
cat "$W/csv" "$W/ctl"
head -n 1 "$W/csv" | grep -qx 't_s,pid,queues,active,slots,suspended,evicted,ids' || fail "head"
sed -n 2p "$W/csv" | grep -q ",$p,1,[04],4,0,0,1$" || fail "line 2"
says '  queue 1 in '
gpreempt-ctl monitor "$p" --csv --duration 100ms --interval 100ms 2> /dev/null |
	grep -q '"0,1,2"$' || fail "ids are not one cell"

step "its end"
gpreempt-ctl monitor "$p" --json --duration 0s --interval 200ms > "$W/ctl" 2> "$W/err" &
m=$!
sleep 1
stop a
wait $m || fail "status $?"
grep -q "process $p has ended" "$W/err" || fail "it does not say that it has ended"
says '"ended": true'
says '"samples": '

step "bad input"
ctl 5 monitor "$p"
ctl 2 monitor
ctl 2 monitor "$p" --interval 0s
says_what_to_do 'interval'

step "on a terminal, and without the module"
start a --queues 1 --packet 1ms
unload
NO_COLOR=1 terminal 80 gpreempt-ctl monitor comm:vgpu-load --duration 100ms --interval 100ms > "$W/ctl"
cat "$W/ctl"
says 'TIME +PID +QUEUES'
says 'queues mean 1\.0'
says 'active slots not known'
says 'gpreempt.ko is not loaded'
stop a
