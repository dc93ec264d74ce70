# SPDX-License-Identifier: GPL-2.0-only
# A register hook that leads out of amdgpu is never called: reads end with EUCLEAN
# and the log says why.
# tier: gate
# timeout: 90
# driver: any
. /t/lib.sh

T=$DEBUGFS/gpreempt
start a --queues 2 --packet 5ms
p=$(pid a)
wait_for 15 running "$p"

dmesg -c > /dev/null
switch 0 foreign_hook 1
for f in "pid/$p/queues" "pid/$p/hqds" nodes; do
	cat "$T/$f" > "$W/out" 2> "$W/err" && fail "$f can be read: $(cat "$W/out")"
	grep -qi 'needs cleaning' "$W/err" || fail "$f: $(cat "$W/err")"
done
switch 0 foreign_hook 0
calls=$(counter 0 foreign_calls)
dmesg | grep gpreempt
[ "$calls" -eq 0 ] || fail "hooks outside of amdgpu were called $calls times"
dmesg | grep -q 'gpreempt: .*hqd_dump.* lies in amdgpu' || fail "the log does not say why"
wait_for 15 running "$p"
stop a
