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

# Until the lock is held. No other program: a slow guest hardly gets to run one then.
age=0
while [ "$age" -eq 0 ] && alive $s; do
	{ read -r _ && read -r _ && read -r _ _ _ _ _ _ _ _ age _; } < "$VIEW/$p/queues"
done
[ "$age" -gt 0 ] || fail "age_ms never told that the list is old"
alive $s || fail "the view waited"
cat "$VIEW/$p/queues"
wait $s
cat "$W/suspend"
echo 10000 > "$VGPU/0/unmap_ns"
expect_suspended "$p"
expect_view "$p" age_ms 0
release_target "$p"
stop a
