# SPDX-License-Identifier: GPL-2.0-only
# A program that is started in a role: its cgroup, its exit status, its signals; and the
# role of any cgroup.
# timeout: 90
# driver: any
. /t/lib.sh

C=/sys/fs/cgroup/gpreempt

run() {
	gpreempt-ctl run "$@" > "$W/ctl" 2>&1
	_got=$?
	sed "s/^/   /" "$W/ctl"
}

ended() { [ $_got -eq "$1" ] || fail "ended with $_got, not $1"; }

step "the exit status is the program's"
for status in 0 1 7 255; do
	run --online -- sh -c "exit $status"
	ended $status
done
run -- sh -c 'kill -9 $$'
ended 137
run -- /no/such/program
ended 127
says_what_to_do "cannot run /no/such/program"
run -- /etc
ended 126

step "the role is the cgroup, of its children too"
run --online --cgroup serve.1 -- sh -c 'cat /proc/self/cgroup'
ended 0
says '^0::/gpreempt/online/serve\.1$'
run --offline --cgroup train -- sh -c 'cat /proc/self/cgroup'
says '^0::/gpreempt/offline/train$'
run -- sh -c 'echo "$$ $(cat /proc/self/cgroup)"'
says '^([0-9]+) 0::/gpreempt/offline/\1$'

step "it has the same PID, and gets its signals"
gpreempt-ctl run --online -- sh -c 'trap "exit 42" USR1; echo ready; while :; do sleep 0.1; done' \
	> "$W/loop" &
p=$!
started="$started $p"
wait_for 10 grep -q ready "$W/loop"
grep -q "^$p\$" "$C/online/$p/cgroup.procs" || fail "$p is not in its cgroup"
kill -USR1 $p
wait $p
[ $? -eq 42 ] || fail "the signal did not arrive"

step "a GPU process of a role is found by it; cgroups that are empty go"
gpreempt-ctl run --offline --cgroup job -- vgpu-load --queues 1 > "$W/a.out" 2> "$W/a.err" &
pid_a=$!
started="$started $pid_a"
wait_for 40 is_ready a
ctl 0 queues cgroup:/gpreempt/offline
says "compute-aql"
run --offline -- true
[ -d "$C/offline/job" ] || fail "the cgroup of a program that runs is gone"
[ ! -d "$C/offline/train" ] || fail "the cgroup of a program that has ended is left"

# has ROLE: a has it, and is a target by it
has() {
	ctl 0 list role:"$1"
	says "^$pid_a	.*	$1	[^	]*	vgpu-load"
	! gpreempt-ctl list role:"$2" > "$W/ctl" 2>&1 || fail "it is $2, too: $(cat "$W/ctl")"
}

step "the nearest cgroup that has a role counts; root alone gives it; it ends with the cgroup"
has offline online
mkdir -p /sys/fs/cgroup/job/step/mine
echo $pid_a > /sys/fs/cgroup/job/step/mine/cgroup.procs
ctl 5 list role:offline
says_what_to_do 'role:offline names no GPU process'
ctl 0 role online cgroup:/job
has online offline
ctl 0 role offline cgroup:/sys/fs/cgroup/job/step
has offline online
chown -R 1000 /sys/fs/cgroup/job/step/mine
as-user gpreempt-ctl role online cgroup:/job/step/mine > "$W/ctl" 2>&1
[ $? -eq 4 ] || fail "a user gives a role: $(cat "$W/ctl")"
says_what_to_do "may not give /job/step/mine a role"
as-user gpreempt-ctl role > "$W/ctl" 2>&1
[ $? -eq 4 ] || fail "a user reads roles: $(cat "$W/ctl")"
as-user gpreempt-ctl list --json > "$W/json" || fail "list: $?"
grep -q '"role": "unknown"' "$W/json" || fail "a user's list does not say that roles are unknown"
has offline online
# oci ID: as a container engine calls its hook
oci() {
	echo "{\"id\":\"$1\",\"pid\":$pid_a,\"annotations\":{\"gpreempt.io/role\":\"online\"}}" > "$W/state"
	ctl 0 role --oci < "$W/state"
}
# A process that is in another cgroup than that of the container, by the id.
for id in ine step/mine '' 0123abcd; do
	oci "$id"
	says "gets no role|no state of a container"
	has offline online
done
oci mine
has online offline
ctl 0 role
says '^online	/job	-$'
says '^offline	/job/step	-$'
says '^online	/job/step/mine	-$'
ctl 0 role none $pid_a
has offline online
echo $pid_a > /sys/fs/cgroup/cgroup.procs
rmdir /sys/fs/cgroup/job/step/mine /sys/fs/cgroup/job/step
mkdir /sys/fs/cgroup/job/step
echo $pid_a > /sys/fs/cgroup/job/step/cgroup.procs
has online offline
stop a

step "what is no role, no name, no program"
run --online --offline -- true
ended 2
says_what_to_do "not both"
run --online
ended 2
says "a program to run is needed"
for name in .. a/b -x ''; do
	run --cgroup="$name" -- true
	ended 2
done
as-user gpreempt-ctl run -- true > "$W/ctl" 2>&1
[ $? -eq 4 ] || fail "without root: $(cat "$W/ctl")"
says_what_to_do "may not make the cgroup"
umount /sys/fs/cgroup
run -- true
ended 3
says_what_to_do "no cgroup v2"
