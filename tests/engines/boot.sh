# SPDX-License-Identifier: GPL-2.0-only
# A host with systemd and our packages: no unit has failed, udev gives the GPU to its
# group, and the commands work as on the small guest.
# timeout: 120
. /t/lib.sh

step "systemd"
[ "$(cat /proc/1/comm)" = systemd ] || fail "PID 1 is $(cat /proc/1/comm)"
systemctl --failed --plain --no-legend | tee "$W/failed"
[ ! -s "$W/failed" ] || fail "units have failed"

step "packages"
for p in gpreempt libgpreempt0; do
	[ "$(dpkg-query -W -f '${db:Status-Status}' $p)" = installed ] || fail "$p is not installed"
done

step "udev"
[ "$(stat -c '%G %a' /dev/kfd)" = "render 660" ] || fail "/dev/kfd is $(stat -c '%G %a' /dev/kfd)"

step "commands"
ctl 0 doctor
start a --queues 2 --packet 1ms
ctl 0 list
says "$(pid a)"
hold "$(pid a)"
expect_no_progress a
release_target "$(pid a)"
expect_progress a
stop a
