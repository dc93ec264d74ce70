# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# For tests of targets in PID namespaces of their own.
. /t/steps.sh

# start_inside LABEL: vgpu-load as PID 2 of a new namespace with its own /proc.
start_inside() {
	rm -f "$W/$1.out"
	unshare -p -f -m sh -c "mount -t proc proc /proc
		vgpu-load --packet 1ms --drain 0 > $W/$1.out & wait" &
	started="$started $!"
	wait_for 15 is_ready "$1"
}

# The PIDs on the host, by what the kernel says of the namespaces.
gpu_pids() {
	for d in /sys/class/kfd/kfd/proc/*; do
		[ -e "$d" ] && echo "${d##*/}"
	done
}

# Labels a and b; $a and $b: their PIDs on the host. $inner: the PID of both inside.
start_two_inside() {
	start_inside a
	a=$(gpu_pids)
	start_inside b
	b=$(gpu_pids | grep -v "^$a\$")
	[ -n "$a" ] && [ -n "$b" ] || fail "not two GPU processes"
	inner=$(awk '$1 == "NSpid:" { print $3 }' "/proc/$a/status")
	echo "host $a and $b, inside $inner"
	[ "$inner" = "$(awk '$1 == "NSpid:" { print $3 }' "/proc/$b/status")" ] ||
		fail "not the same PID inside"
}
