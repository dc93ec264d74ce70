# SPDX-License-Identifier: GPL-2.0-only
# Fields that the module looks up in amdgpu's BTF have another size in turn:
# it is refused and named, or its feature is off. One of 4, to save time; without
# the number it does all of them.
# vgpu: gpus=1
# gpreempt: no
# timeout: 120
# driver: any
. /t/lib.sh

btf-doctor resize /lib/modules/gpreempt.ko 4 || fail "another size was not refused"
insmod /lib/modules/gpreempt.ko || fail "it does not load without a doctor"
