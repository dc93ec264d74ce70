# SPDX-License-Identifier: GPL-2.0-only
# A register hook that leads out of amdgpu, or to its data, is never called: reads end
# with EUCLEAN and the log says why. The commands go on with sysfs, and doctor reports it.
# tier: gate
# timeout: 90
# driver: any
. /t/lib.sh

T=$DEBUGFS/gpreempt
start a --queues 2 --packet 5ms
p=$(pid a)
wait_for 15 running "$p"

# refused SWITCH HOOK: reads end with EUCLEAN, and the log has the hook's name
refused() {
	dmesg -c > /dev/null
	switch 0 "$1" 1
	for f in "pid/$p/queues" "pid/$p/hqds" nodes; do
		cat "$T/$f" > "$W/out" 2> "$W/err" && fail "$1: $f can be read: $(cat "$W/out")"
		grep -qi 'needs cleaning' "$W/err" || fail "$f: $(cat "$W/err")"
	done
	switch 0 "$1" 0
	dmesg | grep gpreempt
	dmesg | grep -q "gpreempt: .*$2 is code of amdgpu's" || fail "$1: the log does not say why"
}

refused foreign_hook hqd_dump
[ "$(counter 0 foreign_calls)" -eq 0 ] || fail "hooks outside of amdgpu were called"
step "commands while the module refuses the driver"
switch 0 foreign_hook 1
ctl 0 queues "$p"
says "gpreempt-ctl doctor"
ctl 0 doctor "$p"
says "^warning.driver-data.*the driver's data contradict themselves"
says "^ok.gpus."
if has_debug_trap; then
	says "^ok.pause.*process $p can be paused"
	ctl 0 suspend --how pause "$p"
	says "^paused $p: .*verified: not checked"
	ctl 0 resume "$p"
else
	# What such a driver does with a pause is known to the module alone.
	says "^note.pause.*gpreempt.ko does not show whether it is paused"
	ctl 3 suspend --how pause "$p"
fi
ctl 0 metrics
says '^gpreempt_'
switch 0 foreign_hook 0
step "a hook that leads into data of amdgpu's"
sleep 61 # the log has 3 such lines a minute
hook=hqd_dump
! has_debug_trap || hook=get_iq_wait_times
refused data_hook $hook
wait_for 15 running "$p"
stop a
