# SPDX-License-Identifier: GPL-2.0-only
# Containers that a user runs, with podman and a session of the user's own: root follows one
# by its id, and all of the user's by a role of the user's slice. The user can give no role:
# neither by an annotation nor by hand.
# timeout: 400
. /t/lib.sh
. /t/engines.sh

SLICE=/user.slice/user-1000.slice
HOME_OF=/home/batch
FOLLOWER=gpreempt-follow@role:offline.service

as_batch() {
	(cd $HOME_OF && exec setpriv --reuid=1000 --regid=1000 --init-groups env -i \
		HOME=$HOME_OF PATH="$PATH" XDG_RUNTIME_DIR=/run/user/1000 "$@")
}

# container NAME: its cgroup is then $cgroup, its process $p.
container() {
	_load=$(load_in /out "$1" --queues 2 --packet 1ms)
	chown 1000 "$W"/*
	as_batch podman run -d --name "$1" --network=none --group-add keep-groups \
		--device /dev/kfd --device /dev/dri/renderD128 -v "$W:/out" \
		--annotation gpreempt.io/role=online --rootfs $HOME_OF/ctr \
		/bin/sh -c "$_load" > "$W/podman" 2>&1 ||
		fail "podman run: $(cat "$W/podman")"
	id=$(as_batch podman inspect -f '{{.Id}}' "$1")
	cgroup=$SLICE/user@1000.service/user.slice/libpod-$id.scope/container
	found "$1" "$cgroup"
	p=$(pid "$1")
}

# paused_and_not UNIT: the container train, which that unit follows
paused_and_not() {
	watch_freeze "$p" "$cgroup"
	as_batch podman pause train > /dev/null || fail "podman pause: $?"
	wait_for 15 off "$p"
	off_in_time
	wait_for 15 logged "$1" "^suspended $p: it is frozen, 2 of 2 queues"
	as_batch podman unpause train > /dev/null || fail "podman unpause: $?"
	wait_for 15 running "$p"
	expect_progress train
}

step "a user with the rights to the GPU, and a session"
useradd -m -u 1000 -G render batch
mount -t tmpfs -o mode=0700,uid=1000,gid=1000 tmpfs $HOME_OF
cp -R /srv/ctr $HOME_OF/ctr
chown -R 1000:1000 $HOME_OF/ctr "$W"
loginctl enable-linger batch
wait_for 30 test -S /run/user/1000/bus
mkdir -p /usr/share/containers/oci/hooks.d
cp /usr/share/doc/gpreempt/contrib/oci/50-gpreempt.json /usr/share/containers/oci/hooks.d/

step "a container is below the user's slice, and has no role"
container train
cat "/proc/$p/cgroup"
ctl 0 list
says "^$p[[:space:]].*podman.*[[:space:]]batch[[:space:]]"
as_batch gpreempt-ctl role offline "cgroup:$cgroup" > "$W/ctl" 2>&1
[ $? -eq 4 ] || fail "its user gives it a role: $(cat "$W/ctl")"
ctl 0 role
! grep -q "$SLICE" "$W/ctl" || fail "it has a role"

step "followed by its id"
follow_unit "container:$id"
paused_and_not "$follower"
systemctl stop "$follower"

step "followed by the role that root gives to the user's slice"
ctl 0 role offline cgroup:$SLICE
systemctl start $FOLLOWER
wait_for 30 logged $FOLLOWER "^following $p: "
paused_and_not $FOLLOWER

step "removed while it is paused"
as_batch podman pause train > /dev/null
wait_for 15 off "$p"
as_batch podman rm -f -t 0 train > /dev/null || fail "podman rm: $?"
wait_for 15 gone "$p"
wait_for 15 logged $FOLLOWER "^ended $p: "
systemctl stop $FOLLOWER
nothing_left
