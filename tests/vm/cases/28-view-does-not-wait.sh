# SPDX-License-Identifier: GPL-2.0-only
# While the driver holds a process's lock (here: an unmap of 5 s, or 8 on a slow guest), the view
# does not wait. It shows the list last seen and says how old that is.
# timeout: 120
. /t/lib.sh

start a --queues 2 --packet 1ms
p=$(pid a)
wait_for 15 running "$p"
ctl 0 suspend "$p" --queues 0
echo $((SLOW > 1 ? 8 : 5))000000000 > "$VGPU/0/unmap_ns"
gpreempt-ctl suspend "$p" > "$W/suspend" 2>&1 &
s=$!

# Until the lock is held. No read may wait for it.
old=0
while [ "$old" -eq 0 ] && alive $s; do
	t0=$(uptime_cs)
	cat "$VIEW/$p/queues" > "$W/queues" || fail "cannot be read"
	took=$(($(uptime_cs) - t0))
	[ $took -le 200 ] || fail "the view waited ${took}0 ms"
	old=$(awk 'NR > 2 && $9 > 0 { n++ } END { print n + 0 }' "$W/queues")
done
cat "$W/queues"
[ "$old" -gt 0 ] || fail "age_ms never told that the list is old"
wait $s
cat "$W/suspend"
echo 10000 > "$VGPU/0/unmap_ns"
expect_suspended "$p"
expect_view "$p" age_ms 0
let_go "$p"
stop a
