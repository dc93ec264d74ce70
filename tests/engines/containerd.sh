# SPDX-License-Identifier: GPL-2.0-only
# containerd by its own tool: a task that is paused and resumed is followed by its cgroup,
# which lies outside of all slices; it is killed while it is paused.
# timeout: 300
. /t/lib.sh
. /t/engines.sh

step "a task"
systemctl start containerd || fail "start: $?"
ctr run -d --rootfs --device /dev/kfd --device /dev/dri/renderD128 \
	--mount "type=bind,src=$W,dst=/out,options=rbind:rw" /srv/ctr train \
	/bin/sh -c "$(load_in /out train --queues 2 --packet 1ms)" || fail "ctr run: $?"
found train /default/train
p=$(pid train)

step "paused and resumed"
follow_unit cgroup:/default/train
for n in 1 2; do
	watch_freeze "$p" /default/train
	ctr task pause train || fail "ctr task pause: $?"
	wait_for 15 off "$p"
	off_in_time
	wait_for 15 logged "$follower" "^suspended $p: it is frozen, 2 of 2 queues"
	ctr task resume train || fail "ctr task resume: $?"
	wait_for 15 running "$p"
	expect_progress train
done

step "killed while it is paused"
ctr task pause train
wait_for 15 off "$p"
ctr task kill -s KILL train || fail "ctr task kill: $?"
wait_for 15 gone "$p"
wait_for 15 logged "$follower" "^ended $p: "
systemctl stop "$follower"
nothing_left
