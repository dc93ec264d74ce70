# SPDX-License-Identifier: GPL-2.0-only
# A container of podman with /dev/kfd and one render node only: pause and unpause are
# followed by the container's name, from the command line and by the unit; list shows
# name and engine; a restart and the removal of a paused one.
# timeout: 300
# vgpu: gpus=2
. /t/lib.sh
. /t/engines.sh

# container NAME ARGS...: a vgpu-load in a container; its cgroup is then $cgroup.
container() {
	_n=$1
	shift
	podman run -d --name "$_n" --network=none --device /dev/kfd \
		--device /dev/dri/renderD128 -v "$W:/out" --rootfs /srv/ctr \
		/bin/sh -c "$(load_in /out "$_n" "$@")" > "$W/podman" 2>&1 ||
		fail "podman run: $(cat "$W/podman")"
	in_container "$_n"
}

in_container() {
	cgroup=/machine.slice/libpod-$(podman inspect -f '{{.Id}}' "$1").scope/container
	found "$1" "$cgroup"
}

step "a container has one of the two GPUs; list shows name and engine"
container train --queues 2 --packet 1ms --gpus 0
p=$(pid train)
grep -q . "$W/train.out"
ctl 0 list
says "^$p[[:space:]]+train[[:space:]]+[0-9a-f]+[[:space:]]+podman[[:space:]]"

followed_by_name podman

step "restarted: the unit follows the new process"
podman restart -t 1 train > /dev/null 2>&1 || fail "podman restart: $?"
wait_for 15 gone "$p"
in_container train
p=$(pid train)
wait_for 60 logged "$follower" "^following $p: "
pause_and_go podman logged "$follower"

step "removed while it is paused"
podman pause train > /dev/null
wait_for 15 off "$p"
podman rm -f train > /dev/null 2>&1 || fail "podman rm: $?"
wait_for 15 gone "$p"
wait_for 15 logged "$follower" "^ended $p: "
systemctl stop "$follower"
nothing_left
