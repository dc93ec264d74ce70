# SPDX-License-Identifier: GPL-2.0-only
# Eight idle GPUs cost little: nothing without a process, and 250 turns of the command
# processor a second for each GPU that has queues. Turns are counted: how much of a CPU
# they take depends on the host, and is printed.
# vgpu: gpus=8
# gpreempt: no
# timeout: 90
# driver: any
. /t/lib.sh

# CPU time of all threads named vgpu*, in ns.
cost() {
	for t in /proc/[0-9]*; do
		read -r name < "$t/comm" || continue
		case $name in vgpu-load) ;; vgpu*) cut -d ' ' -f 1 "$t/schedstat" ;; esac
	done 2>/dev/null | awk '{ n += $1 } END { printf "%d", n }'
}

turns() {
	awk '$1 == "wakeups" { n += $2 } END { printf "%d", n }' "$VGPU"/*/counters
}

# measure WHAT MOST: turns a second of a GPU
measure() {
	c0=$(cost) n0=$(turns) t0=$(uptime_cs)
	sleep 2
	c1=$(cost) n1=$(turns) t1=$(uptime_cs)
	each=$(((n1 - n0) * 100 / (t1 - t0) / 8))
	echo "$1: $each turns a second of a GPU; in all $(((c1 - c0) / 1000)) us of CPU time in $((t1 - t0))0 ms"
	[ "$each" -le "$2" ] || fail "$1: $each turns a second of a GPU, more than $2"
}

[ "$(cost)" -gt 0 ] || fail "no thread of the virtual GPU found"
n=$(turns)
measure "no process" 0
start a --gpus all --queues 2 --packet 1ms --count 5 --rate 1 --report 0
[ "$(turns)" -gt "$n" ] || fail "turns are not counted"
# A process that idles on the GPUs too, because a mapped queue is what the command
# processor has to poll. What it has submitted is done after a second.
kill -STOP "$(pid a)"
sleep 1
measure "two idle queues on each" 250
kill -CONT "$(pid a)"
