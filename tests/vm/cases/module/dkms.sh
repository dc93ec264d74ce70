# SPDX-License-Identifier: GPL-2.0-only
# gpreempt.ko as DKMS built and installed it: modprobe finds it, loads amdgpu
# first when that is not there, and reports when it cannot be.
# vgpu: none
# gpreempt: no
# timeout: 120
# driver: any
. /t/lib.sh

modules=/lib/modules/$(uname -r)
mkdir -p "$modules/kernel" "$modules/updates/dkms" /tmp/bin
for name in modprobe depmod modinfo; do
	ln -s /usr/bin/kmod /tmp/bin/$name
done
# busybox has its own of these names, and goes before PATH.
modprobe() { /tmp/bin/modprobe "$@"; }
modinfo() { /tmp/bin/modinfo "$@"; }
depmod() { /tmp/bin/depmod "$@"; }
cp /usr/bin/gpreempt-dkms.ko "$modules/updates/dkms/gpreempt.ko"
for m in /boot/*.ko; do
	[ "${m##*/}" = amdgpu.ko ] || ln -s "$m" "$modules/kernel/${m##*/}"
done
touch "$modules/modules.order" "$modules/modules.builtin"

step "what it says of itself"
modinfo /usr/bin/gpreempt-dkms.ko | grep -E '^(version|license|softdep|vermagic):'
modinfo -F softdep /usr/bin/gpreempt-dkms.ko | grep -q 'pre: amdgpu' || fail "no softdep"

step "without amdgpu: ENODEV, with a line that says what to do"
rmmod amdgpu
depmod 2> "$W/depmod" || fail "depmod: $(cat "$W/depmod")"
modprobe gpreempt 2> "$W/err" && fail "it loads without amdgpu"
cat "$W/err"
grep -q 'No such device' "$W/err" || fail "not ENODEV"
dmesg | grep 'gpreempt: amdgpu is not loaded' || fail "no clear line"

step "with amdgpu: that is loaded first"
ln -s /boot/amdgpu.ko "$modules/kernel/amdgpu.ko"
depmod 2> "$W/depmod" || fail "depmod: $(cat "$W/depmod")"
modprobe gpreempt || fail "modprobe gpreempt"
[ -d /sys/module/amdgpu ] || fail "amdgpu was not loaded"
grep layout "$DEBUGFS/gpreempt/version" || fail "no version"
insmod /lib/modules/vgpu.ko || fail "no virtual GPU"
start a --queues 2 --packet 1ms
wait_for 15 running "$(pid a)"
stop a
modprobe -r gpreempt 2> "$W/err" || :
[ ! -d /sys/module/gpreempt ] || fail "modprobe -r: $(cat "$W/err")"
