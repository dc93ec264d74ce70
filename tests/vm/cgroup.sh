# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# A tenant that moves its processes about below its own cgroup, /tenant, while that is
# held by root's follow or guard.
. /t/lib.sh
. /t/guard.sh

C=/sys/fs/cgroup
T=$C/tenant

# The role is root's, and what is below the tenant's; its processes are in $T/z.
tenant() {
	mkdir -p $T/y $T/z
	gpreempt-ctl role offline cgroup:/tenant || fail "no role"
	chown -R 65534:65534 $T
	for _label; do
		echo "$(pid "$_label")" > $T/z/cgroup.procs
	done
}

follow() {
	: > "$W/guard"
	setsid gpreempt-ctl follow --stay "$@" role:offline > "$W/guard" 2>&1 &
	g=$!
	started="$started $g"
	wait_for 20 said '^looking for processes'
}

end_follow() {
	kill -TERM "$g"
	wait "$g" || fail "the follower ended with $?: $(cat "$W/guard")"
}

freeze() { echo "$1" > $T/cgroup.freeze; }

# off PID: no slot of it is active, in each of five looks.
off() {
	wait_for 20 view_is "$1" active 0
	for _ in 1 2 3 4 5; do
		view_is "$1" active 0 || fail "process $1 is on the GPU: $(view "$1" active)"
		sleep 0.3
	done
	alive "$g" || fail "what holds it has ended: $(cat "$W/guard")"
}

# runs LABEL
runs() {
	wait_for 20 running "$(pid "$1")"
	expect_progress "$1"
}
