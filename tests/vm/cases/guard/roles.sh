# SPDX-License-Identifier: GPL-2.0-only
# Who is guarded from whom: processes that come and go by role, two roles at
# once, GPUs that are not shared, jobs that go together.
# timeout: 150
# vgpu: gpus=2
. /t/lib.sh

guard() {
	setsid gpreempt-ctl guard "$@" --verbose > "$W/guard" 2>&1 &
	g=$!
	started="$started $g"
}

end_guard() {
	kill -TERM "$g"
	wait "$g" || fail "guard ended with $?: $(cat "$W/guard")"
}

said() { grep -Eq -e "$1" "$W/guard"; }
# role ROLE LABEL ARGS...: as start, in a role
role() {
	_role=$1
	_label=$2
	shift 2
	gpreempt-ctl run --"$_role" -- vgpu-load "$@" > "$W/$_label.out" 2> "$W/$_label.err" &
	eval "pid_$_label=$!"
	started="$started $!"
	wait_for 40 is_ready "$_label"
}

step "roles by cgroup: they come after guard, and are followed"
guard --online cgroup:/gpreempt/online --offline cgroup:/gpreempt/offline
role offline a --gpus 0 --queues 1 --packet 1ms
wait_for 20 said "process $(pid a) is offline"
expect_progress a
role online on --gpus 0 --queues 1 --packet 5ms
wait_for 20 said "process $(pid on) is online"
wait_for 20 view_is "$(pid a)" suspended 1

step "on another GPU no process makes way"
role offline b --gpus 1 --queues 1 --packet 1ms
wait_for 20 said "process $(pid b) is offline"
c0=$(count b)
next_lines b 10
[ "$(progress b completed)" -gt "$c0" ] || fail "b does not run"
said "^suspended $(pid b):" && fail "b was preempted on a GPU that it has alone"

step "of a process on both GPUs only the queues that are in the way"
role offline both --gpus 0,1 --queues 1 --packet 1ms
one_held() { [ "$(view "$(pid both)" suspended | sort | tr -d '\n')" = 01 ]; }
wait_for 20 one_held

step "online leaves: all run"
stop on
wait_for 20 said "process $(pid on) is not online any more"
for x in a b both; do
	wait_for 15 running "$(pid $x)"
	expect_progress $x
done
end_guard

step "a job goes together"
role online on --gpus 0 --queues 1 --packet 5ms
guard --online "$(pid on)" --offline cgroup:/gpreempt/offline --gang
for x in a b both; do
	wait_for 20 view_is "$(pid $x)" suspended 1
done
stop on
for x in a b both; do
	wait_for 15 running "$(pid $x)"
done
end_guard

step "named in both roles: left alone; held by another: left alone; others go on"
role online on --gpus 0 --queues 1 --packet 5ms
hold "$(pid b)"
guard --online comm:vgpu-load --offline "$(pid a)"
wait_for 20 said "process $(pid a) is left alone: it is named as online and as offline"
running "$(pid a)" || fail "a is held"
end_guard
guard --online "$(pid on)" --offline "$(pid a)" "$(pid b)"
wait_for 20 said "process $(pid b) is left alone: it is held by gpreempt-ctl suspend"
wait_for 20 view_is "$(pid a)" suspended 1
ctl 7 suspend "$(pid a)"
says "held by gpreempt-ctl guard"
end_guard
release_target "$(pid b)"
for x in on a b both; do
	stop $x
done
