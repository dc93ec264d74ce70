# SPDX-License-Identifier: GPL-2.0-only
# Two targets in PID namespaces of their own, where both have the same PID: each is
# held by its PID on the host, and no command works from within.
# timeout: 90
. /t/steps.sh

# inside LABEL: vgpu-load as PID 2 of a new namespace with its own /proc.
inside() {
	rm -f "$W/$1.out"
	unshare -p -f -m sh -c "mount -t proc proc /proc
		vgpu-load --packet 1ms --drain 0 > $W/$1.out & wait" &
	started="$started $!"
	wait_for 15 is_ready "$1"
}

# The PIDs on the host, by what the kernel says of the namespaces.
host_pids() {
	for d in /sys/class/kfd/kfd/proc/*; do
		[ -e "$d" ] && echo "${d##*/}"
	done
}

inside a
a=$(host_pids)
inside b
b=$(host_pids | grep -v "^$a\$")
[ -n "$a" ] && [ -n "$b" ] || fail "not two GPU processes"
inner_a=$(awk '$1 == "NSpid:" { print $3 }' "/proc/$a/status")
inner_b=$(awk '$1 == "NSpid:" { print $3 }' "/proc/$b/status")
echo "host $a and $b, inside $inner_a and $inner_b"
[ "$inner_a" = "$inner_b" ] || fail "not the same PID inside"

hold "$a"
expect_no_progress a
expect_progress b
hold "$b"
release_target "$a"
expect_progress a
expect_no_progress b
ctl 0 status
says "^$b[[:space:]]"

step "from within a namespace: status 3 and what to do"
unshare -p -f -m sh -c "mount -t proc proc /proc; mount -t tmpfs tmpfs /run
	gpreempt-ctl suspend 1" > "$W/ctl" 2>&1
status=$?
cat "$W/ctl"
[ $status -eq 3 ] || fail "status $status"
says_what_to_do 'namespace'
release_target "$b"
kill "$a" "$b"
wait_for 5 gone "$a"
wait_for 5 gone "$b"
expect_nothing_left "$a"
