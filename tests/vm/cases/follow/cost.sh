# SPDX-License-Identifier: GPL-2.0-only
# What 32 followers cost: memory has a bar, since each process of theirs locks all that it
# has, and 1,024 of them must fit; processor time is printed.
# timeout: 300
. /t/lib.sh

N=32
MOST_KB=2500 # for each target

mkdir /sys/fs/cgroup/many
i=0
while [ $i -lt $N ]; do
	vgpu-load --queues 1 --packet 1ms --rate 1 > "$W/many.$i" 2>&1 &
	echo $! > /sys/fs/cgroup/many/cgroup.procs
	started="$started $!"
	i=$((i + 1))
done
all_ready() { [ "$(grep -l '^ready ' "$W"/many.* | wc -l)" -ge $N ]; }
wait_for 60 all_ready

gpreempt-ctl follow --stay cgroup:/many > "$W/follow" 2>&1 &
started="$started $!"
all_are() { [ "$(grep -c "^$1 " "$W/follow")" -ge $N ]; }
wait_for 100 all_are following

# Sums over all processes of the follower.
add_up() {
	n=0 cpu=0 pss=0
	for d in /proc/[0-9]*; do
		case "$(readlink "$d/exe")" in
		*/gpreempt-ctl) ;;
		*) continue ;;
		esac
		n=$((n + 1))
		cpu=$((cpu + $(sed 's/.*) //' "$d/stat" | awk '{ print $12 + $13 }')))
		pss=$((pss + $(awk '/^Pss:/ { print $2 }' "$d/smaps_rollup")))
	done
}

measure() {
	add_up
	c0=$cpu t0=$(uptime_cs)
	sleep 10
	add_up
	echo "$1: $n processes, $((pss / N)) KB for each target, $((cpu - c0)) of $(($(uptime_cs) - t0)) cs of CPU"
	[ $((pss / N)) -le $MOST_KB ] || fail "$1: $((pss / N)) KB for each target, more than $MOST_KB"
}

measure "they run"
echo 1 > /sys/fs/cgroup/many/cgroup.freeze
wait_for 100 all_are suspended
measure "they are held"
echo 0 > /sys/fs/cgroup/many/cgroup.freeze
wait_for 100 all_are resumed
