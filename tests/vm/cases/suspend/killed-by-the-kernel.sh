# SPDX-License-Identifier: GPL-2.0-only
# A held target that the kernel ends: by a signal that dumps its core, and because
# its cgroup is out of memory. It is reaped, its core is there, its holder goes.
# race: a target dies while it is held
# timeout: 120
. /t/lib.sh

GROUP=/sys/fs/cgroup/target
start other --packet 1ms

# expect_reaped STATUS: the target a, p, whose holder is worker and guardian
expect_reaped() {
	wait "$p"
	_status=$?
	[ $_status -eq "$1" ] || fail "not reaped with $1, but $_status"
	wait_for 15 not_in_view "$p"
	wait_for 15 gone "$worker"
	wait_for 15 gone "$guardian"
	nothing_held || fail "status still names the target"
	expect_progress other
}

step "it dumps its core"
echo "$W/core" > /proc/sys/kernel/core_pattern
ulimit -c unlimited
start a --queues 4 --packet 1ms
p=$(pid a)
ulimit -c 0
hold "$p"
worker=$(holder_of "$p") guardian=$(guardian_of "$p")
kill -ABRT "$p"
expect_reaped 134
[ -s "$W/core" ] || fail "there is no core"

step "its cgroup is out of memory"
echo +memory > /sys/fs/cgroup/cgroup.subtree_control || fail "no memory controller"
mkdir "$GROUP" || fail "no cgroup"
start a --queues 4 --packet 1ms
p=$(pid a)
echo "$p" > "$GROUP/cgroup.procs"
hold "$p"
worker=$(holder_of "$p") guardian=$(guardian_of "$p")
echo 1 > "$GROUP/memory.max"
# Its first page more is one too many: it takes a signal.
kill -USR1 "$p"
expect_reaped 137
grep -q '^oom_kill [1-9]' "$GROUP/memory.events" || fail "$(cat "$GROUP/memory.events")"
rmdir "$GROUP"
stop other
