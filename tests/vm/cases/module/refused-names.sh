# SPDX-License-Identifier: GPL-2.0-only
# Each name that the module looks up in amdgpu's BTF is missing in turn: it is
# refused and named, or its feature is off.
# vgpu: gpus=1
# gpreempt: no
# timeout: 120
# driver: any
. /t/lib.sh

btf-doctor hide /lib/modules/gpreempt.ko || fail "a missing name was not refused"
insmod /lib/modules/gpreempt.ko || fail "it does not load without a doctor"
