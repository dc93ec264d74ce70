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

# pause_and_go COMMAND...: the command and a pattern find what follow said
pause_and_go() {
	watch_freeze "$p" "$cgroup"
	docker pause train > /dev/null || fail "docker pause: $?"
	wait_for 15 off "$p"
	off_in_time
	wait_for 15 "$@" "^suspended $p: it is frozen, 2 of 2 queues"
	docker unpause train > /dev/null || fail "docker unpause: $?"
	wait_for 15 running "$p"
	expect_progress train
}
said() { grep -Eq -e "$1" "$W/follow"; }

step "followed by name from the command line"
setsid gpreempt-ctl follow container:train > "$W/follow" 2>&1 &
f=$!
started="$started $f"
wait_for 30 said "^following $p: "
pause_and_go said
kill -INT "$f"
wait "$f" || fail "the follower ended with $?"

step "followed by name by the unit"
follow_unit container:train
pause_and_go logged "$follower"

step "stopped while it is paused"
docker pause train > /dev/null
wait_for 15 off "$p"
docker stop train > /dev/null || fail "docker stop: $?"
wait_for 15 gone "$p"
wait_for 15 logged "$follower" "^ended $p: "
systemctl stop "$follower"
nothing_left
