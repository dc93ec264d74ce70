# SPDX-License-Identifier: GPL-2.0-only
# Whose /dev/kfd a process has: its own, several, its parent's, none any more.
# timeout: 90
# driver: any
. /t/pause.sh

# shell LABEL COMMANDS: a shell that opens /dev/kfd itself. Without the last
# command it would become "sleep".
shell() {
	sh -c "$2; echo ready > $W/$1.ready; sleep 1000; :" &
	eval "pid_$1=$!"
	started="$started $!"
	wait_for 10 [ -s "$W/$1.ready" ]
}

step "several of its own: paused once"
shell two 'exec 5<>/dev/kfd 6<>/dev/kfd'
gp 0 pause "$(pid two)"
printed "before no after yes contexts 2 foreign 0"
gp 0 unpause "$(pid two)"
printed "before yes after no contexts 2"
gp 0 unpause "$(pid two)"
printed "before no after no"

step "closed: it cannot be paused"
shell closed 'exec 5<>/dev/kfd; exec 5>&-'
gp 3 check "$(pid closed)"
gp 3 pause "$(pid closed)"
printed "has closed its /dev/kfd"

step "a child with its parent's descriptors, which uses the GPU itself"
sh -c "exec 5<>/dev/kfd 6<>/dev/kfd
	vgpu-load --queues 1 --packet 1ms > $W/child.out 2> $W/child.err &
	echo \$! > $W/child.pid; wait" &
started="$started $!"
parent=$!
wait_for 20 is_ready child
pid_child=$(cat "$W/child.pid")
gp 0 pause "$pid_child"
printed "before no after yes contexts 1 foreign 2"
expect_paused "$pid_child"
gp 0 unpause "$pid_child"
printed "before yes after no contexts 1 foreign 2"
wait_for 15 running "$pid_child"
expect_progress child

step "a child that has its parent's only is no GPU process"
gp 0 pause "$parent"
gp 0 unpause "$parent"
sleeper=$(sh -c 'exec 5<>/dev/kfd; sleep 1000 > /dev/null 2>&1 & echo $!')
started="$started $sleeper"
gp 5 pause "$sleeper"
printed "is not a GPU process"
kill -TERM "$pid_child"
wait $parent
