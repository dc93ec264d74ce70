# SPDX-License-Identifier: GPL-2.0-only
# An amdgpu without BTF: here the shipped one, in a copy whose BTF is hidden, or one of
# yours (AMDGPU=), which may have none. The layout is the one that DKMS's hook made from
# the headers of its source.
# vgpu: none
# gpreempt: no
# timeout: 120
. /t/lib.sh

updates=/lib/modules/$(uname -r)/updates
layout=$updates/gpreempt-amdgpu.btf
mkdir -p "$updates"

# refused REGEX: the module does not load, and says why
refused() {
	dmesg -c > /dev/null
	insmod /lib/modules/gpreempt.ko 2> "$W/err" && fail "it loads"
	dmesg | grep gpreempt
	dmesg | grep -Eq "gpreempt: .*$1" || fail "the log does not say '$1'"
	grep -qi 'not supported' "$W/err" || fail "the error is $(cat "$W/err")"
}

# with_head LINE: the layout with another first line
with_head() {
	{ printf '%-63s\n' "$1"; tail -c +65 /usr/bin/gpreempt-dkms.btf; } > "$layout"
}

says_layout() {
	grep -qx "layout $1" "$DEBUGFS/gpreempt/version" || fail "version does not say layout $1"
}

if [ -e /sys/kernel/btf/amdgpu ]; then
	step "amdgpu has BTF: that is used, whatever lies there"
	with_head "gpreempt-layout 1 0123456789"
	insmod /lib/modules/gpreempt.ko || fail "it does not load"
	says_layout btf
	grep feature "$DEBUGFS/gpreempt/version" > "$W/features"
	unload
	rename-symbol /boot/amdgpu.ko /tmp/amdgpu.ko .BTF || fail "BTF cannot be hidden"
	rmmod amdgpu && insmod /tmp/amdgpu.ko || fail "the copy cannot be loaded"
	[ ! -e /sys/kernel/btf/amdgpu ] || fail "it still has BTF"
fi

step "amdgpu.ko without BTF, and no layout"
rm -f "$layout"
refused "no BTF of amdgpu, and no /lib/modules/.*/updates/gpreempt-amdgpu.btf in its place: .*docs/module.md"

step "a layout of another amdgpu, of another version, of rubbish"
id=$(head -c 63 /usr/bin/gpreempt-dkms.btf | cut -d' ' -f3)
echo "build id $id"
with_head "gpreempt-layout 1 $(echo "$id" | tr 0-9a-f 1-9a-f0)"
refused "made for another amdgpu \(build id .*, loaded is $id\)"
with_head "gpreempt-layout 2 $id"
refused 'not a layout of this version'
printf '%-63s\nrubbish' "gpreempt-layout 1 $id" > "$layout"
refused 'layout made from headers is not BTF'
echo short > "$layout"
refused 'not a layout'

step "its own"
cp /usr/bin/gpreempt-dkms.btf "$layout"
insmod /lib/modules/gpreempt.ko || fail "it does not load"
says_layout headers
[ ! -e "$W/features" ] || grep feature "$DEBUGFS/gpreempt/version" | cmp - "$W/features" ||
	fail "other features"
insmod /lib/modules/vgpu.ko gpus=2 || fail "no virtual GPU"
start a --gpus all --queues 3 --sdma 1 --packet 1ms
p=$(pid a)
wait_for 15 running "$p"
expect_view "$p" state active
[ "$(awk 'NR > 2' "$VIEW/$p/hqds" | wc -l)" -eq 26 ] || fail "not 26 slots"
[ "$(awk 'NR > 2' "$DEBUGFS/gpreempt/nodes" | wc -l)" -eq 2 ] || fail "not two nodes"
hold "$p"
release_target "$p"
stop a
unload

step "locked down while it is read: not without a signature"
rm "$layout" && mkfifo "$layout"
mount -t securityfs none /sys/kernel/security
dmesg -c > /dev/null
insmod /lib/modules/gpreempt.ko 2> "$W/err" &
loader=$!
wait_for 10 grep -q fifo /proc/$loader/stack
echo integrity > /sys/kernel/security/lockdown || fail "no lockdown in this kernel"
: > "$layout"
wait $loader && fail "it loads"
dmesg | grep gpreempt
dmesg | grep -q 'gpreempt: .*updates/gpreempt-amdgpu.btf is not signed, and this kernel is locked down: .*docs/module.md' ||
	fail "the log does not say why"
