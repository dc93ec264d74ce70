# SPDX-License-Identifier: GPL-2.0-only
# docker: a container that is paused and unpaused is followed by its name, from the command
# line and by the unit; list shows name and engine; it is stopped while it is paused.
# timeout: 300
. /t/lib.sh
. /t/engines.sh

step "a container, with its name in the list"
systemctl start docker || fail "start: $?"
tar -C /srv/ctr -c . | docker import - load > /dev/null || fail "docker import: $?"
docker run -d --name train --network none --device /dev/kfd --device /dev/dri/renderD128 \
	-v "$W:/out" load /bin/sh -c "$(load_in /out train --queues 2 --packet 1ms)" \
	> "$W/id" || fail "docker run: $?"
cgroup=/system.slice/docker-$(cat "$W/id").scope
found train "$cgroup"
p=$(pid train)
ctl 0 list
says "^$p[[:space:]]+train[[:space:]]+[0-9a-f]+[[:space:]]+docker[[:space:]]"

followed_by_name docker

step "the image of the DaemonSet"
/t/data/image-root "$W/root" || fail "image-root: $?"
docker build -q -t gpreempt:1 -f /t/data/Dockerfile "$W/root" > /dev/null || fail "docker build: $?"
docker run --rm --network none gpreempt:1 --version > "$W/ctl" || fail "docker run gpreempt: $?"
says '^gpreempt-ctl [0-9]'

step "stopped while it is paused"
docker pause train > /dev/null
wait_for 15 off "$p"
docker stop train > /dev/null || fail "docker stop: $?"
wait_for 15 gone "$p"
wait_for 15 logged "$follower" "^ended $p: "
systemctl stop "$follower"
nothing_left
