# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# make stress: for $1 seconds 8 readers of every file, 8 programs that make and
# end GPU processes, one more that is suspended and evicted all the time, and the
# module loaded and unloaded, and at the end a GPU reset.
# Fails on anything wrong in the kernel log, and when slabs or pids are left.
. /t/lib.sh

seconds=${1:-60}
T=$DEBUGFS/gpreempt
# The runner judges the rest of the log.
BAD='contradicts itself|gpreempt: cannot'

slab() {
	awk -v name="$1" '$1 == name { print $2 }' /proc/slabinfo
}

unreclaimable() {
	awk '$1 == "SUnreclaim:" { print $2 }' /proc/meminfo
}

# Everything that can be freed is, and RCU has had its time. Slabs are shrunk
# because KASAN keeps what is freed for a while.
settle() {
	wait_for 20 no_kfd_process
	sleep 2
	sync
	echo 3 > /proc/sys/vm/drop_caches
	for f in /sys/kernel/slab/*/shrink; do
		echo 1 > "$f"
	done
	sleep 1
}

# The readers make gaps meanwhile.
reload() {
	: > "$W/hold"
	unload
	insmod /lib/modules/gpreempt.ko || fail "the module does not load again"
	echo >> "$W/reloaded"
	rm "$W/hold"
}

reset_since() {
	[ "$(counter 1 gpu_resets)" -gt "$1" ]
}

work() {
	workers=
	for _ in 1 2 3 4 5 6 7 8; do
		(while :; do
			cat "$T"/* "$T"/pid/*/* > /dev/null 2>&1
			[ ! -e "$W/hold" ] || sleep 0.2
		done) &
		workers="$workers $!"
		(while :; do
			vgpu-load --gpus all --queues 2 --sdma 1 --count 3 --packet 100us > /dev/null 2>&1
			echo >> "$W/born"
		done) &
		workers="$workers $!"
	done
	started="$started $workers"
	start target --gpus all --queues 2 --packet 1ms --report 0
	target=$(pid target)
	_rounds=0
	_until=$(($(uptime_cs) + $1 * 100))
	while [ "$(uptime_cs)" -lt $_until ]; do
		echo "$target" 2> /dev/null > "$VGPU/evict"
		timeout $((20 * PACE)) gpreempt-ctl suspend "$target" > /dev/null 2>&1 &&
			echo >> "$W/suspended"
		timeout $((20 * PACE)) gpreempt-ctl resume "$target" > /dev/null 2>&1
		_rounds=$((_rounds + 1))
		# A slow guest has few rounds.
		[ $((_rounds % (SLOW > 1 ? 1 : 4))) -ne 0 ] || reload
	done
	# A GPU reset under all of that: the driver gives up waiting after 9 s.
	_resets=$(counter 1 gpu_resets)
	switch 1 fail_fence 1
	wait_for 60 reset_since "$_resets"
	switch 1 fail_fence 0
	sleep 2
	for w in $workers; do
		kill -9 "$w" 2> /dev/null
	done
	killall -9 vgpu-load 2> /dev/null
	wait
}

how_often() {
	wc -l < "$W/$1"
}

: > "$W/born"; : > "$W/suspended"; : > "$W/reloaded"
step "10 s, for caches to fill"
work 10
settle
pids=$(slab pid) tasks=$(slab task_struct) kilobytes=$(unreclaimable)

step "$seconds s"
: > "$W/born"; : > "$W/suspended"; : > "$W/reloaded"
work "$seconds"
settle
cat "$T/stats"
echo "processes $(how_often born), suspended $(how_often suspended), module loaded again $(how_often reloaded)"
echo "slab pid: $pids, then $(slab pid)"
echo "slab task_struct: $tasks, then $(slab task_struct)"
echo "unreclaimable slab: $kilobytes kB, then $(unreclaimable) kB"
dmesg | grep -E "$BAD" && fail "the kernel log is not clean"
[ "$(how_often born)" -gt 10 ] || fail "hardly any process"
[ "$(how_often reloaded)" -gt 0 ] || fail "the module was never loaded again"
# A leak of one a process would be far above this.
[ $(($(slab pid) - pids)) -lt $(($(how_often born) / 4 + 64)) ] || fail "struct pid leaks"
[ $(($(unreclaimable) - kilobytes)) -lt 4096 ] || fail "slabs grow"
[ -z "$(ls "$T/pid")" ] || fail "directories are left"
echo "stress: passed"
