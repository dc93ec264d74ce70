# SPDX-License-Identifier: GPL-2.0-only
# The role of a container of podman by an annotation, through the hook of user/contrib/oci,
# and one follower for all containers of the host; hooks that fail or hang;
# a rootless container, which has no role and is followed by its cgroup; ROCm's runtime in a
# container.
# timeout: 600
# vgpu: gpus=2
. /t/lib.sh
. /t/engines.sh
. /t/rocm.sh

HOOKS=/usr/share/containers/oci/hooks.d
FOLLOWER=gpreempt-follow@role:offline.service

# container NAME ARGS...: its cgroup is then $cgroup.
container() {
	_n=$1
	shift
	podman run -d --name "$_n" --network=none --device /dev/kfd \
		--device /dev/dri/renderD128 -v "$W:/out" "$@" > "$W/podman" 2>&1 ||
		fail "podman run: $(cat "$W/podman")"
	cgroup=/machine.slice/libpod-$(podman inspect -f '{{.Id}}' "$_n").scope/container
}

# load NAME OPTIONS...: a vgpu-load in a container; its process is then $p.
load() {
	_name=$1
	shift
	container "$_name" "$@" --rootfs /srv/ctr \
		/bin/sh -c "$(load_in /out "$_name" --queues 2 --packet 1ms)"
	found "$_name" "$cgroup"
	p=$(pid "$_name")
}

role_is() { /usr/bin/gpreempt-ctl list "role:$1" 2> /dev/null | grep -q "^$2[[:space:]]"; }
no_role() { ! role_is offline "$1" && ! role_is online "$1"; }

# remove NAME
remove() {
	podman rm -f -t 0 "$1" > /dev/null 2>&1 || fail "podman rm: $?"
	wait_for 15 gone "$(pid "$1")"
}

# hook_starts WHAT: a container starts while the hook is as that, without a role
hook_starts() {
	now_cs
	_begin=$_cs
	load hurt --annotation gpreempt.io/role=offline
	now_cs
	echo "   $((_cs - _begin))0 ms to its first packets, with a hook that $1"
	no_role "$p" || fail "it has a role"
	remove hurt
}

step "the hook gives the container's cgroup the role"
mkdir -p $HOOKS
cp /usr/share/doc/gpreempt/contrib/oci/50-gpreempt.json $HOOKS/
load train --annotation gpreempt.io/role=offline
ctl 0 role
says "^offline	${cgroup%/container}	-\$"
ctl 0 list role:offline
says "^$p[[:space:]]+train[[:space:]]"

step "pause and unpause, followed by the role"
systemctl start $FOLLOWER
wait_for 30 logged $FOLLOWER "^following $p: "
pause_and_go podman logged $FOLLOWER

step "restarted: the new process has the role, too, and is followed"
podman restart -t 1 train > /dev/null 2>&1 || fail "podman restart: $?"
wait_for 15 gone "$p"
found train "$cgroup"
p=$(pid train)
role_is offline "$p" || fail "it has lost its role"
wait_for 30 logged $FOLLOWER "^following $p: "
pause_and_go podman logged $FOLLOWER

step "removed while it is paused: the follower stays"
podman pause train > /dev/null
wait_for 15 off "$p"
remove train
is_active $FOLLOWER || fail "the follower has ended"

step "no annotation, one that names no role: no role, and they start"
load none
no_role "$p" || fail "it has a role"
remove none
load wrong --annotation gpreempt.io/role=best
no_role "$p" || fail "it has a role"
remove wrong
load first --annotation gpreempt.io/role=online
role_is online "$p" || fail "it is not online"
remove first

step "a hook that fails or hangs keeps no container from starting"
printf '#!/bin/sh\nexit 1\n' > /usr/local/bin/gpreempt-ctl
chmod 755 /usr/local/bin/gpreempt-ctl
hook_starts "fails"
printf '#!/bin/sh\nsleep 1000\n' > /usr/local/bin/gpreempt-ctl
hook_starts "hangs"
rm /usr/local/bin/gpreempt-ctl

step "ROCm's runtime in a container: suspended by pause, every packet once"
wait_for 15 no_kfd_process
: > "$W/rocm.out"
container rocm --annotation gpreempt.io/role=offline -v /files/rocm13:/rocm13:ro \
	-v /files/hsa-load13:/bin/hsa-load13:ro --rootfs /srv/ctr \
	/bin/sh -c "exec hsa-load13 --queues 2 --packet 2ms --copy 65536 > /out/rocm.out 2> /out/rocm.err"
wait_for 60 ready_or_not rocm
is_ready rocm || fail "it did not start: $(cat "$W/rocm.err")"
p=$(podman inspect -f '{{.State.Pid}}' rocm)
wait_for 30 logged $FOLLOWER "^following $p: "
wait_for 15 running "$p"
ctl 0 list role:offline
says "^$p[[:space:]]+rocm[[:space:]]"
ctl 0 queues "$p"
for n in 1 2; do
	watch_freeze "$p" "$cgroup"
	podman pause rocm > /dev/null || fail "podman pause: $?"
	wait_for 15 off "$p"
	off_in_time
	busy=$(busy_ms 0 "$p")
	sleep 1
	[ "$(busy_ms 0 "$p")" -eq "$busy" ] || fail "its packets run while it is paused"
	podman unpause rocm > /dev/null || fail "podman unpause: $?"
	wait_for 15 running "$p"
	expect_progress rocm
done
podman kill -s TERM rocm > /dev/null || fail "podman kill: $?"
ended_well rocm
[ "$(result rocm copies)" -gt 0 ] || fail "no copies"
[ "$(result rocm differ)" = 0 ] || fail "copied data is wrong"

systemctl stop $FOLLOWER
nothing_left
