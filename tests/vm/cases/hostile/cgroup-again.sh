# SPDX-License-Identifier: GPL-2.0-only
# A tenant removes the cgroup of its process, which is in another one meanwhile, and makes it
# again: 20 times, and each freeze after that is seen, by follow and by guard.
# timeout: 300
. /t/cgroup.sh

# Four system calls, one after the other.
again() {
	as-user sh -c "echo $p > $T/y/cgroup.procs; rmdir $T/z; mkdir $T/z; echo $p > $T/z/cgroup.procs" ||
		fail "not made again"
}

# seen N: so many freezes
seen() {
	for _n in $(seq "$1"); do
		again
		freeze 1
		wait_for 15 view_is "$p" active 0
		view_is "$p" active 0 || fail "freeze $_n was not seen"
		freeze 0
		wait_for 15 running "$p"
	done
	expect_progress a
}

start a --queues 2 --packet 1ms
p=$(pid a)
tenant a

step "follow"
follow --how debug
wait_for 20 said "^following $p"
seen 10
end_follow

step "guard"
guard --online role:online --offline role:offline --follow --how pause --verbose
wait_for 30 said "process $p is offline"
seen 10
end_guard
stop a
