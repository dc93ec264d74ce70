# SPDX-License-Identifier: GPL-2.0-only
# A tenant tries to get more than its half of a GPU: it forks, ends and begins processes all the
# time, asks the driver for the highest priority, goes from cgroup to cgroup, and rests to save up.
# Its neighbour's share is that of the GPU's own count, not that of guard. (False requests:
# guard/strangers. Weights, over a longer time: the part shares of the bench.)
# vgpu: gpus=1 poll_ns=1000000
# timeout: 600
. /t/lib.sh
. /t/guard.sh

C=/sys/fs/cgroup
for name in honest cheat; do
	ln -s "$(command -v vgpu-load)" "/tmp/$name"
done

# cheat LABEL ARGS...
cheat() {
	_label=$1
	shift
	PROGRAM=/tmp/cheat start "$_label" --queues 1 --packet 5ms --report 0 "$@"
}

begin() {
	guard --config "$W/conf" --json
	wait_for 60 all_known "$1"
	sleep 1
}

# Of all that the GPU has executed since, the neighbour's part: at least 46 %, and the GPU has worked.
# A turn is 50 ms, and 4 s have 80 of them.
judge() {
	_was=$(busy_ms 0 "$(pid honest)") _all=$(worked)
	sleep 4
	_honest=$(($(busy_ms 0 "$(pid honest)") - _was)) _all=$(($(worked) - _all))
	echo "$1: $_honest of $_all ms"
	[ $_all -gt 2000 ] || fail "the GPU has worked for $_all ms of 4000"
	[ $((100 * _honest)) -ge $((46 * _all)) ] || fail "$1: $_honest of $_all ms are the neighbour's"
}

# worked: ms for which the GPU has executed packets of all processes
worked() { awk '{ ns += $2 } END { printf "%d\n", ns / 1e6 }' "$VGPU/0/busy"; }

cat > "$W/conf" <<-EOF
	policy fair slots=1 slice=50ms
	tenant comm:honest
	tenant comm:cheat
EOF
PROGRAM=/tmp/honest start honest --queues 1 --packet 5ms --report 0
cheat cheat1

step "alone with it: a half each"
begin 2
judge "one process"

step "it forks"
for i in 2 3 4 5 6; do
	cheat "cheat$i"
done
wait_for 60 all_known 7
judge "six processes"
for i in 2 3 4 5 6; do
	stop "cheat$i" > /dev/null
done

step "it begins a process each 300 ms, and kills it"
(
	new=
	trap 'kill -KILL $new; exit' TERM
	while :; do
		/tmp/cheat --queues 1 --packet 5ms --report 0 > /dev/null 2>&1 &
		new=$!
		sleep 0.3
		kill -KILL $new
	done
) &
churn=$!
started="$started $churn"
judge "new processes"
kill -TERM $churn
wait $churn

step "it asks for the highest priority, and goes from cgroup to cgroup"
cheat first --priority 15
wait_for 60 said "process $(pid first) is offline"
(
	while :; do
		for i in 1 2 3 4 5; do
			mkdir -p "$C/c$i"
			echo "$(pid first)" > "$C/c$i/cgroup.procs"
			sleep 0.05
		done
	done
) &
moves=$!
started="$started $moves"
judge "priority and cgroups"
kill -KILL $moves
stop first > /dev/null

step "it rests for three seconds, to save up"
kill -STOP "$(pid cheat1)"
sleep 3
kill -CONT "$(pid cheat1)"
judge "after a rest"
end_guard
stop cheat1 > /dev/null
stop honest > /dev/null
