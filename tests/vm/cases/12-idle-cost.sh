# SPDX-License-Identifier: GPL-2.0-only
# Eight idle GPUs cost less than 5 % of one emulated core.
# vgpu: gpus=8
# gpreempt: no
# timeout: 90
. /t/lib.sh

# CPU time of all threads named vgpu*, in ns: a process that idles on the GPUs
# too, because a mapped queue is what the command processor has to poll.
cost() {
	for t in /proc/[0-9]*; do
		read -r name < "$t/comm" || continue
		case $name in vgpu-load) ;; vgpu*) cut -d ' ' -f 1 "$t/schedstat" ;; esac
	done 2>/dev/null | awk '{ n += $1 } END { printf "%d", n }'
}

# The least of up to five: what the host takes away counts as CPU time here.
measure() {
	least=100
	for _ in 1 2 3 4 5; do
		c0=$(cost) t0=$(uptime_cs)
		sleep 2
		c1=$(cost) t1=$(uptime_cs)
		percent=$(awk -v c=$((c1 - c0)) -v t=$((t1 - t0)) 'BEGIN { printf "%d", c / (t * 1e5) }')
		echo "$1: $percent % of one emulated core ($(((c1 - c0) / 1000)) us in $((t1 - t0))0 ms)"
		[ "$percent" -ge "$least" ] || least=$percent
		[ "$least" -ge 5 ] || return 0
	done
	fail "$1: $least % of one emulated core"
}

[ "$(cost)" -gt 0 ] || fail "no thread of the virtual GPU found"
measure "no process"
start a --gpus all --queues 2 --packet 1ms --count 5 --rate 1 --report 0
kill -STOP "$(pid a)"
measure "two idle queues on each"
kill -CONT "$(pid a)"
