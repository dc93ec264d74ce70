# SPDX-License-Identifier: GPL-2.0-only
# The GPU follows a frozen cgroup: docker pause, systemctl freeze and their like
# write to cgroup.freeze. The follower is never frozen with its target.
# timeout: 150
. /t/lib.sh

C=/sys/fs/cgroup
mkdir -p $C/job/one $C/job/two $C/else

follow() {
	: > "$W/follow"
	setsid gpreempt-ctl follow --how debug "$@" > "$W/follow" 2>&1 &
	f=$!
	started="$started $f"
	wait_for 20 grep -q '^following ' "$W/follow"
}

freeze() { echo 1 > "$C/$1/cgroup.freeze"; }
thaw() { echo 0 > "$C/$1/cgroup.freeze"; }
ended() { grep -q "^ended $1: " "$W/follow"; }

start a --queues 2 --packet 1ms
p=$(pid a)
echo "$p" > $C/job/one/cgroup.procs

step "its cgroup is frozen, and the one above it; the follower came from the same one"
: > "$W/follow"
sh -c "echo \$\$ > $C/job/one/cgroup.procs; exec setsid gpreempt-ctl follow --how debug $p" \
	> "$W/follow" 2>&1 &
f=$!
started="$started $f"
wait_for 20 grep -q "^following $p: its signals and its cgroup /job/one" "$W/follow"
[ "$(cat $C/job/one/cgroup.procs)" = "$p" ] || fail "the follower stayed in the cgroup"
for c in job/one job; do
	freeze $c
	wait_for 15 view_is "$p" suspended 1
	expect_suspended "$p"
	thaw $c
	wait_for 15 running "$p"
	expect_progress a
done

step "frozen and stopped: it runs when it is neither"
freeze job
wait_for 15 view_is "$p" suspended 1
kill -STOP "$p"
thaw job
sleep 0.5
expect_suspended "$p"
freeze job/one
kill -CONT "$p"
sleep 0.5
expect_suspended "$p"
thaw job/one
wait_for 15 running "$p"

step "moved to a cgroup that is frozen, and out of it"
freeze else
echo "$p" > $C/else/cgroup.procs
wait_for 15 view_is "$p" suspended 1
echo "$p" > $C/job/one/cgroup.procs
wait_for 15 running "$p"
expect_progress a
kill -INT "$f"
wait "$f" || fail "the follower ended with $?"

step "a job of two, and one more that comes; one is killed while frozen"
start b --queues 1 --packet 1ms
start c --queues 1 --packet 1ms
echo "$(pid b)" > $C/job/two/cgroup.procs
follow cgroup:/job
wait_for 15 grep -q "^following $(pid b): " "$W/follow"
echo "$(pid c)" > $C/job/two/cgroup.procs
wait_for 15 grep -q "^following $(pid c): " "$W/follow"
freeze job
for p in $(pid a) $(pid b) $(pid c); do
	wait_for 15 view_is "$p" suspended 1
done
kill -KILL "$(pid b)"
wait_for 15 gone "$(pid b)"
wait_for 15 ended "$(pid b)"
thaw job
wait_for 15 running "$(pid a)"
wait_for 15 running "$(pid c)"
expect_progress a
expect_progress c

step "each of them ends, and then the follower; its own cgroup is gone"
stop a
stop c
wait "$f" || fail "the follower ended with $?"
[ -z "$(ls -d $C/gpreempt-hold/*/ 2>/dev/null)" ] || fail "a cgroup is left"
rmdir $C/job/one $C/job/two $C/job || fail "something is left in the job's cgroup"
