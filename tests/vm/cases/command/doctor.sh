# SPDX-License-Identifier: GPL-2.0-only
# doctor: well; as an ordinary user; without the module, debugfs, /dev/kfd, Yama's leave,
# CWSR; with a debugger; what it says of a process is what suspend says.
# timeout: 90
. /t/lib.sh

tab=$(printf '\t')

# found STATUS RESULT CHECK REGEX: doctor's exit status, and that line of it.
found() {
	ctl "$1" doctor
	grep -Eq "^$2$tab$3$tab.*$4" "$W/ctl" || fail "not: $2 $3 $4"
}

start a --queues 1 --packet 1ms
p=$(pid a)
wait_for 15 running "$p"

step "well"
found 0 ok kfd '1\.(1[3-9]|[2-9][0-9])'
grep -E "^(failed|warning|unknown)$tab" "$W/ctl" && fail "something is wrong here"
# The driver is asked, and answers as it answers a member of the group render; that of
# amdgpu-dkms, which alone has a version, lets it.
if [ -e /sys/module/amdgpu/version ]; then
	found 0 note sessions 'any process that may open /dev/kfd'
else
	found 0 ok sessions 'only a process with the right'
fi
for check in kernel amdgpu kfd gpus debug-trap firmware debug-vmid scheduler cwsr root ptrace \
	yama lockdown debugfs module hardware debuggers address-spaces \
	preemptions run-directory; do
	grep -q "^[a-z]*$tab$check$tab" "$W/ctl" || fail "no check of $check"
done
says "no GPU process is held or debugged"
says "gpreempt.ko [0-9.]+, all features"

step "of a process"
ctl 0 doctor "$p"
says "ok${tab}target${tab}process $p can be suspended"
debugger "$p" plain > "$W/debugger" 2>&1 &
d=$!
started="$started $d"
wait_for 15 grep -q attached "$W/debugger"
ctl 7 doctor "$p"
why=$(grep "${tab}target${tab}" "$W/ctl" | cut -f 3)
found 0 note debuggers "$p by $d"
ctl 7 suspend "$p"
grep -qF "$why" "$W/ctl" || fail "suspend gives another reason than: $why"
kill -9 $d
wait $d
ctl 5 doctor 999999
says_what_to_do 'no process 999999'

step "as an ordinary user"
chmod 600 /dev/kfd
chmod 700 "$DEBUGFS"
as-user gpreempt-ctl doctor > "$W/ctl" 2>&1
[ $? -eq 4 ] || fail "status"
says "failed${tab}root"
says "failed${tab}kfd${tab}/dev/kfd cannot be opened${tab}run it with sudo"
says "unknown${tab}module"

step "without the module, then without debugfs"
unload
found 0 warning module 'gpreempt-ctl module load'
umount "$DEBUGFS"
found 0 warning debugfs 'mount -t debugfs'
mount -t debugfs none "$DEBUGFS"

step "in a bad state: a file of the system reports it"
echo 0 > "$W/off"
cwsr=/sys/module/amdgpu/parameters/cwsr_enable
mount -o bind "$W/off" $cwsr
found 3 failed cwsr 'cwsr_enable=1'
umount $cwsr
scope=/proc/sys/kernel/yama/ptrace_scope
echo 3 > "$W/scope"
if [ -e $scope ]; then
	mount -o bind "$W/scope" $scope
	found 4 failed yama 'ptrace_scope is 3'
	umount $scope
fi

step "without /dev/kfd"
mv /dev/kfd /dev/kfd.away
found 3 failed kfd 'modprobe amdgpu'
mv /dev/kfd.away /dev/kfd

step "on a terminal and as JSON"
NO_COLOR=1 terminal 200 gpreempt-ctl doctor > "$W/pty" || fail "on a terminal"
grep -q 'module.*; gpreempt-ctl module load' "$W/pty" || fail "no remedy: $(cat "$W/pty")"
ctl 0 doctor --json
says '"status": 0'
says '"check": "cwsr"'
expect_progress a
stop a
