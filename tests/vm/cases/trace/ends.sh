# SPDX-License-Identifier: GPL-2.0-only
# trace: killed, ended by a signal, its target's end; symbols that the kernel
# lacks; all its refusals. Nothing of it stays in the tracing directory.
# timeout: 150
. /t/lib.sh
. /t/trace.sh

start a --queues 1 --packet 1ms
p=$(pid a)
wait_for 15 running "$p"
tracing_state > "$W/before"

step "SIGKILL leaves it; the next one removes it"
trace_begin killed "$p" --duration 0s
kill -9 "$(trace_pid killed)"
wait "$(trace_pid killed)"
[ "$(traces)" = 1 ] || fail "nothing was left: the test tests nothing"
grep -q "gpreempt_$(trace_pid killed)_" $TRACING/dynamic_events || fail "no events were left"
trace_begin next "$p" --duration 0s
[ "$(traces)" = 1 ] || fail "the old instance is still there"
kill -TERM "$(trace_pid next)"
wait "$(trace_pid next)" || fail "SIGTERM: status $?"
tracing_unchanged

step "without the symbols of some functions"
grep -v -e ' pm_send_runlist	' -e ' copy_context_work_handler	' /proc/kallsyms > "$W/symbols"
mount -o bind "$W/symbols" /proc/kallsyms
trace_begin missing "$p" --json --duration 0s
hold "$p"
release_target "$p"
trace_end missing 0
grep -q "copy_context_work_handler, .*pm_send_runlist" "$W/missing.notes" || fail "not named"
value missing missing | grep -q '"pm_send_runlist"' || fail "not named in JSON"
[ "$(phase_n missing suspend copy)" = 0 ] || fail "there is a copy"
[ "$(phase_n missing suspend fence)" = 1 ] || fail "no fence"
sums_are_totals missing
umount /proc/kallsyms

step "without the one that it needs"
grep -v ' kfd_ioctl_set_debug_trap	' /proc/kallsyms > "$W/symbols"
mount -o bind "$W/symbols" /proc/kallsyms
lab 3 trace "$p" --duration 100ms
says_what_to_do 'kfd_ioctl_set_debug_trap cannot be traced'
umount /proc/kallsyms
rm "$W/symbols"
tracing_unchanged

step "its time; a place that cannot be written"
lab 1 trace "$p" --duration 100ms -o /nowhere/x.json
says_what_to_do '/nowhere/x.json: No such file'
says '^# traced [0-9.]+ s: 0 operations on 1 process, 0 on others'
tracing_unchanged

step "bad input"
lab 2 trace
lab 2 trace "$p" --amd-log 4
says_what_to_do 'amd-log is for a command'
lab 5 trace 999999 --duration 100ms
says_what_to_do 'no process 999999'
as-user gpreempt-lab trace "$p" > "$W/ctl" 2>&1
[ $? -eq 4 ] || fail "as an ordinary user"
says_what_to_do 'root'

step "the target's end"
trace_begin ends "$p" --json --duration 0s
hold "$p"
kill -9 "$p"
wait "$(trace_pid ends)" || fail "status $?"
grep -q "traced processes have ended" "$W/ends.notes" || fail "no note of it"
[ "$(phase_n ends suspend total)" = 1 ] || fail "the suspend is not there"
tracing_unchanged

step "the tracing directory is not mounted"
start b --queues 1 --packet 1ms
wait_for 15 running "$(pid b)"
umount $TRACING
umount $DEBUGFS/tracing 2> /dev/null	# the kernel mounts it when it is looked at
umount $DEBUGFS || fail "debugfs stays"
lab 3 trace "$(pid b)" --duration 100ms
says_what_to_do 'mount -t tracefs'
mount -t debugfs none $DEBUGFS
mount -t tracefs nodev $TRACING

step "lockdown"
mount -t securityfs none /sys/kernel/security
echo confidentiality > /sys/kernel/security/lockdown
lab 4 trace "$(pid b)" --duration 100ms
says_what_to_do 'does not let us trace'
expect_progress b
stop b
