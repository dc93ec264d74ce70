# SPDX-License-Identifier: GPL-2.0-only
# Files are read below the root of PID 1: not that of modprobe, and not that of the
# kernel's threads, which is an empty file system from Linux 7.3 on.
# vgpu: none
# gpreempt: no
# driver: any
. /t/lib.sh

hidden=/sys/kernel/btf
file=amdgpu
layout=btf
if [ ! -e $hidden/$file ]; then	# a driver of yours, with a layout made from headers
	hidden=/lib/modules/$(uname -r)/updates
	file=gpreempt-amdgpu.btf
	layout=headers
fi
new=/tmp/newroot
trap 'umount "$hidden" 2> /dev/null; cleanup' EXIT

step "what is hidden from the root of the threads, of PID 1 and of insmod: refused"
mkdir $new
mount --rbind / $new || fail "no second root"
mount -t tmpfs none "$hidden" || fail "it cannot be hidden"
[ -e "$new$hidden/$file" ] || fail "it is hidden in both"
insmod /lib/modules/gpreempt.ko 2> "$W/err" && fail "it loads"
dmesg | grep 'gpreempt: no BTF of amdgpu' || fail "another reason: $(cat "$W/err")"

step "PID 1 alone has a root where it is there: loaded"
move-root 1 $new || fail "the root of PID 1 cannot be moved"
[ "$(readlink /proc/1/root)" = $new ] || fail "PID 1 has $(readlink /proc/1/root)"
[ "$(readlink /proc/2/root)" = / ] || fail "the threads have another root"
insmod /lib/modules/gpreempt.ko || fail "it does not load"
grep -qx "layout $layout" "$DEBUGFS/gpreempt/version" || fail "no BTF"
unload

step "insmod in a root that has nothing"
mkdir -p /tmp/bare/lib/modules
cp /lib/modules/gpreempt.ko /tmp/bare/lib/modules/
cp /bin/busybox /tmp/bare/ 2> /dev/null || cp "$(readlink -f /proc/$$/exe)" /tmp/bare/busybox
chroot /tmp/bare /busybox insmod /lib/modules/gpreempt.ko || fail "it does not load"
