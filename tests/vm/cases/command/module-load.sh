# SPDX-License-Identifier: GPL-2.0-only
# load and unload: as modprobe does, and what they say when they cannot.
# clock: real amdgpu is loaded, which takes 80 s of the counted clock
# vgpu: none
# gpreempt: no
# timeout: 90
# driver: any
. /t/lib.sh

modules=/lib/modules/$(uname -r)
mkdir -p "$modules/kernel" "$modules/updates/dkms" /tmp/bin
ln -s /usr/bin/kmod /tmp/bin/depmod
for m in /boot/*.ko; do
	[ "${m##*/}" = amdgpu.ko ] || ln -s "$m" "$modules/kernel/${m##*/}"
done
touch "$modules/modules.order" "$modules/modules.builtin"
/tmp/bin/depmod 2> "$W/depmod" || fail "depmod: $(cat "$W/depmod")"

step "not root"
as-user gpreempt-ctl module load > "$W/ctl" 2>&1
[ $? -eq 4 ] || fail "status"
says_what_to_do 'sudo'

step "no gpreempt.ko"
ctl 3 module load
says_what_to_do 'make dkms-install'

step "no amdgpu"
cp /usr/bin/gpreempt-dkms.ko "$modules/updates/dkms/gpreempt.ko"
rmmod amdgpu
/tmp/bin/depmod 2> "$W/depmod"
ctl 3 module load
says_what_to_do 'amdgpu'
says 'modprobe amdgpu'

step "amdgpu is loaded first; a second time is no error"
ln -s /boot/amdgpu.ko "$modules/kernel/amdgpu.ko"
/tmp/bin/depmod 2> "$W/depmod"
ctl 0 module load
says 'gpreempt.ko is loaded; amdgpu can.t be unloaded before it .gpreempt-ctl module unload.'
rmmod amdgpu 2> "$W/err" && fail "amdgpu was unloaded under gpreempt.ko"
[ -d "$DEBUGFS/gpreempt" ] || fail "no view after that"
[ -d /sys/module/amdgpu ] || fail "amdgpu was not loaded"
[ -r "$DEBUGFS/gpreempt/version" ] || fail "no view"
ctl 0 module load
says 'loaded already'

step "in use"
insmod /lib/modules/vgpu.ko || fail "no virtual GPU"
start a --queues 1 --packet 1ms
wait_for 15 running "$(pid a)"
exec 9< "$DEBUGFS/gpreempt/version"
ctl 7 module unload
says_what_to_do 'in use'
exec 9<&-

step "unload"
ctl 0 module unload
[ ! -d /sys/module/gpreempt ] || fail "it is still there"
ctl 0 module unload
says 'not loaded'
ctl 2 module load now
stop a

step "amdgpu can be unloaded then"
wait_for 15 no_kfd_process
# the driver releases the render node a moment after the end
wait_for 5 rmmod vgpu
[ ! -d /sys/module/vgpu ] || fail "the virtual GPU stays"
rmmod amdgpu || fail "amdgpu stays"
