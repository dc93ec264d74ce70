# SPDX-License-Identifier: GPL-2.0-only
# A target killed while suspended is reaped and leaves nothing in the view.
# tier: gate
# timeout: 90
. /t/lib.sh

start other --packet 5ms
start a --queues 4 --packet 5ms
p=$(pid a)
hold "$p"
worker=$(holder_of "$p") guardian=$(guardian_of "$p")
kill -9 "$p"
wait "$p"
[ $? -eq 137 ] || fail "not reaped as killed"
wait_for 15 not_in_view "$p"
wait_for 15 gone "$worker"
wait_for 15 gone "$guardian"
wait_for 15 test ! -e "/sys/class/kfd/kfd/proc/$p"
nothing_held || fail "status still names the target"
for f in /run/gpreempt/*"$p"*; do
	[ ! -e "$f" ] || fail "left behind: $f"
done
expect_progress other
stop other
