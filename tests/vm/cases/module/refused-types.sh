# SPDX-License-Identifier: GPL-2.0-only
# Pointers that the module follows point to another structure in amdgpu's BTF, and
# hooks that it calls have another prototype, in turn: it is refused and named,
# or its feature is off. All of them have the right size.
# vgpu: gpus=1
# gpreempt: no
# timeout: 120
# driver: any
. /t/lib.sh

btf-doctor retype /lib/modules/gpreempt.ko || fail "another type was not refused"
insmod /lib/modules/gpreempt.ko || fail "it does not load without a doctor"
