# SPDX-License-Identifier: GPL-2.0-only
# systemd freezes and thaws a service, and a slice with its children: gpreempt-follow@
# follows, in its own sandbox and by a pause, and the journal says why. It is stopped while
# its target is suspended, and a frozen target is killed.
# timeout: 240
. /t/lib.sh
. /t/engines.sh

step "a service: frozen, thawed, twice"
unit train --queues 2 --packet 1ms
p=$(pid train)
follow_unit cgroup:/system.slice/train.service
wait_for 20 logged "$follower" "^following $p: "
for n in 1 2; do
	watch_freeze "$p" /system.slice/train.service
	systemctl freeze train
	wait_for 15 off "$p"
	off_in_time
	wait_for 15 logged "$follower" "^suspended $p: it is frozen, 2 of 2 queues"
	systemctl thaw train
	wait_for 15 running "$p"
	expect_progress train
done
wait_for 15 logged "$follower" "^resumed $p: it is thawed"
view_is "$p" evicted 0 || fail "it is still paused"

step "the follower is stopped while its target is suspended: repaired, the queues run"
systemctl freeze train
wait_for 15 off "$p"
systemctl stop "$follower"
wait_for 15 running "$p"
nothing_left
systemctl start "$follower"
wait_for 15 off "$p"

step "a frozen service cannot be stopped, and can be killed: the follower goes on for the next"
! systemctl stop train || fail "it was stopped: this case thinks of an older systemd"
systemctl kill -s KILL train
wait_for 15 gone "$p"
wait_for 15 logged "$follower" "^ended $p: "
systemctl thaw train || :
systemctl reset-failed train || :
nothing_left
unit train --queues 1 --packet 1ms
p=$(pid train)
wait_for 30 logged "$follower" "^following $p: "
systemctl stop "$follower"
systemctl stop train
ended_well train

step "a slice: the services below it, also in a slice of it"
UNIT_OPTIONS=--slice=batch
unit one --queues 1 --packet 1ms
UNIT_OPTIONS=--slice=batch-night
unit two --queues 1 --packet 1ms
follow_unit cgroup:/batch.slice
wait_for 20 logged "$follower" "^following $(pid two): "
watch_freeze "$(pid two)" /batch.slice/batch-night.slice/two.service
systemctl freeze batch.slice
for l in one two; do
	wait_for 15 off "$(pid $l)"
done
off_in_time
systemctl thaw batch.slice
for l in one two; do
	wait_for 15 running "$(pid $l)"
	expect_progress $l
	systemctl stop $l
	ended_well $l
done

step "the follower stays for those that come later, and ends when it is stopped"
systemctl stop "$follower"
nothing_left
