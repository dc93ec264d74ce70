# SPDX-License-Identifier: GPL-2.0-only
# amdgpu has no BTF, lacks a symbol, is not there: one clear line each. For
# symbols it is the module that is changed: it looks for one that is not there.
# tier: gate
# vgpu: none
# gpreempt: no
# timeout: 120
# driver: any
. /t/lib.sh

module=/lib/modules/gpreempt.ko

# refused REGEX ERROR: the module does not load, and says why
refused() {
	dmesg -c > /dev/null
	insmod $module 2> "$W/err" && fail "it loads"
	cat "$W/err"
	dmesg | grep gpreempt
	dmesg | grep -Eq "gpreempt: .*$1" || fail "the log does not say '$1'"
	grep -qi "$2" "$W/err" || fail "the error is not '$2'"
	[ ! -e "$DEBUGFS/gpreempt" ] || fail "a directory is left"
}

# with_symbol NAME: a gpreempt.ko that looks up another name in place of NAME,
# which amdgpu does not have
with_symbol() {
	rename-symbol /lib/modules/gpreempt.ko /tmp/gpreempt.ko "$1" || fail "cannot rename $1"
	module=/tmp/gpreempt.ko
}

step "no BTF of amdgpu"
# A driver of yours may have a layout that was made from headers instead.
layout=/lib/modules/$(uname -r)/updates/gpreempt-amdgpu.btf
[ ! -e "$layout" ] || mv "$layout" /tmp/layout
cp /sys/kernel/btf/vmlinux /tmp/vmlinux.btf
mount -t tmpfs none /sys/kernel/btf && cp /tmp/vmlinux.btf /sys/kernel/btf/vmlinux
refused 'no BTF of amdgpu, and no /lib/modules/.*docs/module.md' 'not supported'
umount /sys/kernel/btf
mkdir -p /tmp/kernel/btf
mv /tmp/vmlinux.btf /tmp/kernel/btf/vmlinux
echo rubbish > /tmp/kernel/btf/amdgpu
dmesg -c > /dev/null
btf-doctor elsewhere $module && fail "it loads"
dmesg | grep 'gpreempt: /tmp/kernel/btf/amdgpu is not BTF' || fail "rubbish is taken for BTF"
[ ! -e /tmp/layout ] || mv /tmp/layout "$layout"

step "BTF that is not the kernel's own: a copy, another file of sysfs, a whole directory"
if [ -e /sys/kernel/btf/amdgpu ]; then
	not_own="cannot read /sys/kernel/btf/amdgpu .*another file is mounted there"
	cp /sys/kernel/btf/amdgpu /tmp/amdgpu.btf
	for other in /tmp/amdgpu.btf /sys/kernel/btf/vmlinux; do
		mount --bind $other /sys/kernel/btf/amdgpu
		refused "$not_own" 'not supported'
		umount /sys/kernel/btf/amdgpu
	done
	mkdir /tmp/own && cp /sys/kernel/btf/vmlinux /sys/kernel/btf/amdgpu /tmp/own
	mount --bind /tmp/own /sys/kernel/btf
	refused "cannot read /sys/kernel/btf/vmlinux .*another file is mounted there" 'not supported'
	umount /sys/kernel/btf
fi

step "symbols"
with_symbol kfd_processes_table
refused 'amdgpu has no symbol kfd_processes_tablX' 'not supported'
with_symbol kfd_processes_srcu
refused 'amdgpu has no symbol kfd_processes_srcX' 'not supported'

step "symbols that it can do without"
for symbol in topology_lock topology_device_list; do
	with_symbol $symbol
	insmod $module || fail "it does not load without $symbol"
	grep -qx "feature_nodes off:${symbol%?}X" "$DEBUGFS/gpreempt/version" || fail "feature"
	cat "$DEBUGFS/gpreempt/nodes" 2> /dev/null && fail "nodes can be read"
	unload
done
with_symbol kfd_create_process
insmod $module || fail "it does not load without kfd_create_process"
grep -qx 'events rescan' "$DEBUGFS/gpreempt/version" || fail "events"
rmmod amdgpu 2> /dev/null && fail "amdgpu can be unloaded before gpreempt"
unload

step "no amdgpu"
module=/lib/modules/gpreempt.ko
rmmod amdgpu
refused 'amdgpu is not loaded' 'no such device'
