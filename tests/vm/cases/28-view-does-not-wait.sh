# SPDX-License-Identifier: GPL-2.0-only
# While the driver holds a process's lock (here: an unmap of 3 s), the view
# does not wait. It shows the list last seen and says how old that is.
# timeout: 60
. /t/lib.sh

start a --queues 2 --packet 1ms
p=$(pid a)
wait_for 2 running "$p"
ctl 0 suspend "$p" --queues 0
echo 3000000000 > "$VGPU/0/unmap_ns"
gpreempt-ctl suspend "$p" > "$W/suspend" 2>&1 &
s=$!
sleep 0.5
t0=$(uptime_cs)
cat "$VIEW/$p/queues" > "$W/queues" || fail "cannot be read"
took=$(($(uptime_cs) - t0))
cat "$W/queues"
[ $took -le 50 ] || fail "the view waited ${took}0 ms"
awk 'NR > 2 && $9 == 0 { exit 1 }' "$W/queues" || fail "age_ms does not tell"
wait $s
cat "$W/suspend"
echo 10000 > "$VGPU/0/unmap_ns"
expect_suspended "$p"
expect_view "$p" age_ms 0
let_go "$p"
stop a
