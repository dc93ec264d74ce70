# SPDX-License-Identifier: GPL-2.0-only
# Each field that the module looks up in amdgpu's BTF has another size in turn:
# it is refused and named, or its feature is off.
# vgpu: gpus=1
# gpreempt: no
# timeout: 120
. /t/lib.sh

btf-doctor resize /lib/modules/gpreempt.ko || fail "another size was not refused"
insmod /lib/modules/gpreempt.ko || fail "it does not load without a doctor"
