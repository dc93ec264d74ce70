# SPDX-License-Identifier: GPL-2.0-only
# What cannot be followed: a sentence, a next step and an exit status.
# timeout: 120
. /t/lib.sh

C=/sys/fs/cgroup
start a --queues 1 --packet 1ms
p=$(pid a)

step "held already"
hold "$p"
ctl 7 follow --how debug "$p"
says_what_to_do "process $p is held by gpreempt-ctl suspend"
says "resume $p"
release_target "$p"
ctl 5 follow 999999
says_what_to_do "no process"

step "followed: not held by another, and status shows it"
: > "$W/follow"
setsid gpreempt-ctl follow --how debug "$p" > "$W/follow" 2>&1 &
f=$!
started="$started $f"
wait_for 20 grep -q '^following ' "$W/follow"
ctl 7 follow --how debug "$p"
says_what_to_do "process $p is held by gpreempt-ctl follow"
ctl 7 suspend "$p"
says_what_to_do "gpreempt-ctl follow"
ctl 7 resume "$p"
says "gpreempt-ctl follow"
ctl 0 status
says "^$p[[:space:]].*follow"
kill -TERM "$f"
wait "$f" || fail "the follower ended with $?"
wait_for 15 running "$p"

step "in one process group with its target: it leaves that"
: > "$W/follow"
gpreempt-ctl follow --how debug "$p" > "$W/follow" 2>&1 &
f=$!
started="$started $f"
wait_for 20 grep -q '^following ' "$W/follow"
read -r _ _ _ _ group _ < "/proc/$f/stat"
[ "$group" = "$f" ] || fail "it is still in process group $group"
kill -TERM "$f"
wait "$f" || fail "the follower ended with $?"

step "in one cgroup with its target, which it cannot leave"
mkdir -p $C/both
echo "$p" > $C/both/cgroup.procs
echo $$ > $C/both/cgroup.procs
mount -o remount,ro,bind $C
ctl 1 follow --how debug "$p"
says_what_to_do "frozen together with process $p.*below the cgroup /both"
mount -o remount,rw,bind $C
echo $$ > $C/cgroup.procs
echo "$p" > $C/cgroup.procs

step "the old freezer"
mkdir -p /tmp/v1
mount -t cgroup -o freezer none /tmp/v1 || skip "this kernel has no old freezer"
mkdir -p /tmp/v1/old
: > "$W/follow"
setsid gpreempt-ctl follow --how debug "$p" > "$W/follow" 2>&1 &
f=$!
started="$started $f"
wait_for 20 grep -q '^following ' "$W/follow"
echo "$p" > /tmp/v1/old/cgroup.procs
wait "$f"
[ $? -eq 3 ] || fail "moved there while it was followed: not refused"
grep -q "has moved to /old of the old freezer" "$W/follow" || fail "no sentence"
wait_for 15 running "$p"
ctl 3 follow --how debug "$p"
says_what_to_do "/old of the old freezer \(cgroup v1\), which sends no event"
echo "$p" > /tmp/v1/cgroup.procs
rmdir /tmp/v1/old
umount /tmp/v1
expect_progress a
stop a
