# SPDX-License-Identifier: GPL-2.0-only
# The units are started before there is a GPU and before gpreempt.ko: each comes to work
# by itself when these come.
# timeout: 240
# vgpu: none
# gpreempt: no
. /t/lib.sh
. /t/engines.sh

f=$(systemd-escape --template gpreempt-follow@.service cgroup:/system.slice/train.service)
g=gpreempt-guard@test.service
mkdir -p /etc/gpreempt
cat > /etc/gpreempt/guard-test.conf <<-END
	ONLINE=cgroup:/system.slice/on.service
	OFFLINE=cgroup:/system.slice/off.service
	OPTIONS=--verbose
END

step "without a GPU and the module"
systemctl start --no-block "$f" "$g"
sleep 5
is_inactive "$g" || fail "guard is active without a GPU"
logged "$g" . || fail "guard says nothing in the journal"
cat "$W/journal"

step "they come"
insmod /lib/modules/vgpu.ko
insmod /lib/modules/gpreempt.ko
unit train --queues 2 --packet 1ms
unit off --queues 1 --packet 1ms
wait_for 60 is_active "$g"
wait_for 60 is_active "$f"
systemctl freeze train
wait_for 15 off "$(pid train)"
systemctl thaw train
wait_for 15 running "$(pid train)"
wait_for 30 logged "$g" "process $(pid off) is offline"

step "the end"
systemctl stop "$f" "$g"
nothing_left
for l in train off; do
	systemctl stop $l
	ended_well $l
done
