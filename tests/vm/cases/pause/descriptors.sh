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

# Without an address space; a driver without the debug trap would crash at the end of such
# a pause.
step "several of its own: paused once"
shell two 'exec 5<>/dev/kfd 6<>/dev/kfd'
if has_debug_trap; then
	gp 0 pause "$(pid two)"
	printed "before no after yes contexts 2 foreign 0"
	gp 0 unpause "$(pid two)"
	printed "before yes after no contexts 2"
	gp 0 unpause "$(pid two)"
	printed "before no after no"
else
	gp 3 check "$(pid two)"
	gp 3 pause "$(pid two)"
	printed "no address space"
	gp 3 unpause "$(pid two)"
	ctl 3 suspend "$(pid two)"
	says_what_to_do "no address space"
fi

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
# Without the debug trap a process has one context, and the search ends with it.
foreign=2
has_debug_trap || foreign='[0-2]'
gp 0 pause "$pid_child"
printed "before no after yes contexts 1 foreign $foreign"
expect_paused "$pid_child"
gp 0 unpause "$pid_child"
printed "before yes after no contexts 1 foreign $foreign"
wait_for 15 running "$pid_child"
expect_progress child

step "a child that has its parent's only is no GPU process"
if has_debug_trap; then
	gp 0 pause "$parent"
	gp 0 unpause "$parent"
fi
sleeper=$(sh -c 'exec 5<>/dev/kfd; sleep 1000 > /dev/null 2>&1 & echo $!')
started="$started $sleeper"
gp 5 pause "$sleeper"
printed "is not a GPU process"
kill -TERM "$pid_child"
wait $parent
