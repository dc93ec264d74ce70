# SPDX-License-Identifier: GPL-2.0-only
# What looks for mistakes is awake, and stays so while both modules work.
. /t/lib.sh

awake() {
	awk '$1 == "debug_locks:" { exit $2 != 1 }' /proc/lockdep_stats || fail "lockdep is off"
	[ -w "$DEBUGFS/kmemleak" ] || fail "kmemleak is off"
}

awake
dmesg | grep -i 'KernelAddressSanitizer initialized' || fail "no KASAN"
start a --queues 2 --sdma 1 --packet 1ms
hold "$(pid a)"
release_target "$(pid a)"
stop a
grep -E 'lock-classes|debug_locks' /proc/lockdep_stats
unload
insmod /lib/modules/gpreempt.ko || fail "it does not load again"
awake
