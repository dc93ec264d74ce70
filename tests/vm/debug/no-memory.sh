# SPDX-License-Identifier: GPL-2.0-only
# Each allocation that loading gpreempt.ko makes fails once. The module refuses with ENOMEM,
# or does without what it can do without; nothing is left behind, and it loads again.
# gpreempt: no
# timeout: 1800
. /t/lib.sh

F=$DEBUGFS/failslab
T=$DEBUGFS/gpreempt
ko=/lib/modules/gpreempt.ko
[ -d "$F" ] || fail "no failslab"
# Those that may wait are meant, too, and a trace for each would be all of the log.
echo N > "$F/ignore-gfp-wait"
echo 0 > "$F/verbose"

# All files that a module has that got its memory.
insmod $ko || fail "it does not load"
(cd "$T" && find . | sort) > "$W/files"
unload

gone_again() {
	[ ! -e "$T" ] || fail "allocation $n: it is not there, and its files are"
	! grep -q '^gpreempt ' /proc/modules || fail "allocation $n: it is there, and refused"
}

n=0
refused=0
without=0
while :; do
	n=$((n + 1))
	[ $n -lt 20000 ] || fail "more than $n allocations"
	fail-load $ko $n > "$W/said" || fail "allocation $n: it cannot be made to fail"
	read -r error failed < "$W/said"
	case $error in
	0)
		[ "$failed" = failed ] || break
		without=$((without + 1))
		cat "$T"/* > /dev/null 2>&1
		unload ;;
	ENOMEM)
		refused=$((refused + 1)) ;;
	*)
		fail "allocation $n: $error" ;;
	esac
	gone_again
done
echo "$((n - 1)) allocations: refused $refused times, loaded $without times"
[ $refused -gt 10 ] || fail "it was hardly refused"

step "and once more with all memory"
(cd "$T" && find . | sort) | diff "$W/files" - || fail "not all files are there"
unload
insmod $ko || fail "it does not load again"
start a --queues 2 --packet 1ms
hold "$(pid a)"
release_target "$(pid a)"
stop a
