# SPDX-License-Identifier: GPL-2.0-only
# A kernel without debugfs: the module reports it, and does not load.
# kernel: debugfs=off
# vgpu: none
# gpreempt: no
. /t/lib.sh

dmesg -c > /dev/null
insmod /lib/modules/gpreempt.ko 2> "$W/err" && fail "it loads"
cat "$W/err"
dmesg | grep -q 'gpreempt: cannot make files in debugfs (-1): is it off' ||
	fail "the log says $(dmesg | tail -n 2)"
! grep -q '^gpreempt ' /proc/modules || fail "it is there"
