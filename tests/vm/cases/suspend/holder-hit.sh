# SPDX-License-Identifier: GPL-2.0-only
# What may happen to a holder: both processes stopped, frozen, out of memory, the
# socket deleted, the clock set. The queues run or stay held as they should, the
# target can be killed, and the next command works: each step begins with one.
# timeout: 150
. /t/steps.sh

GROUPS=/sys/fs/cgroup

# Charged from the start, so that a limit meets what they have.
mkdir $GROUPS/gpreempt-hold
echo +memory > $GROUPS/cgroup.subtree_control || fail "no memory controller"
echo +memory > $GROUPS/gpreempt-hold/cgroup.subtree_control || fail "no memory controller for holders"
start a --queues 2 --packet 1ms
p=$(pid a)

# Who hits the worker, hits the guardian too.
both() {
	worker=$(holder_of "$p") guardian=$(guardian_of "$p")
	[ -n "$worker" ] && [ -n "$guardian" ] || fail "no holder"
}

step "both stopped: the kernel's timers kill them"
hold "$p"
both
kill -STOP "$worker" "$guardian"
wait_for 10 running "$p"
expect_free a

step "both stopped, and the target killed"
start b --packet 1ms
q=$(pid b)
ctl 0 suspend "$q"
worker=$(holder_of "$q") guardian=$(guardian_of "$q")
kill -STOP "$worker" "$guardian"
end_time b kill -9 "$q"
[ "$took" -le $((500 * SLOW)) ] || fail "it took ${took}0 ms to die"
echo "ended after ${took}0 ms"
wait_for 5 nothing_held
wait_for 5 no_holder

step "both frozen with their cgroup"
hold "$p"
both
group=$GROUPS$(sed -n 's/^0:://p' "/proc/$worker/cgroup")
[ "$group" != $GROUPS/ ] || fail "the holder has no cgroup of its own"
echo 1 > "$group/cgroup.freeze"
wait_for 10 running "$p"
expect_free a

step "the target's cgroup frozen: its holder answers and releases it"
mkdir $GROUPS/target
echo "$p" > $GROUPS/target/cgroup.procs
hold "$p"
echo 1 > $GROUPS/target/cgroup.freeze
ctl 0 status
says "^$p[[:space:]]"
ctl 0 resume "$p"
wait_for 5 not_traced "$p"
hold "$p"
both
kill -9 "$worker"
wait_for 5 running "$p"
echo 0 > $GROUPS/target/cgroup.freeze
echo "$p" > $GROUPS/cgroup.procs
expect_free a

step "out of memory: the kernel kills them"
hold "$p"
both
group=$GROUPS$(sed -n 's/^0:://p' "/proc/$worker/cgroup")
[ "$(cat "$group/memory.current")" -gt 65536 ] || fail "they have no memory to take"
echo 65536 > "$group/memory.max"
wait_for 10 running "$p"
expect_free a

step "the socket deleted: no resume can reach it, so it releases its target"
hold "$p"
rm "/run/gpreempt/$p.sock"
ctl 0 resume "$p"
says "^resumed $p: its holder has ended|is not held"
expect_free a
hold "$p"
rm -r /run/gpreempt
wait_for 5 running "$p"
expect_free a
hold "$p"
rm "/run/gpreempt/$p.sock"
hold "$p"
release_target "$p"

step "the clock set back and forth: a lease counts real time"
hold "$p" --for 3s
date -s '2001-01-01 00:00:00' > /dev/null
expect_suspended "$p"
date -s '2035-01-01 00:00:00' > /dev/null
sleep 0.5
expect_suspended "$p"
wait_for 10 running "$p"
expect_free a
hold "$p"
release_target "$p"
stop a
