# SPDX-License-Identifier: GPL-2.0-only
# An allocation that loading gpreempt.ko makes fails, one after the other. The module
# refuses with ENOMEM, or does without what it can do without; nothing is left behind, and
# it loads again.
# gpreempt: no
# timeout: 300
. /t/lib.sh

T=$DEBUGFS/gpreempt
ko=/lib/modules/gpreempt.ko

# All files that a module has that got its memory.
insmod $ko || fail "it does not load"
(cd "$T" && find . | sort) > "$W/files"
unload

gone_again() {
	[ ! -e "$T" ] || fail "allocation $n: it is not there, and its files are"
	! grep -q '^gpreempt ' /proc/modules || fail "allocation $n: it is there, and refused"
}

# How many there are: most are of reading the BTF, a page or two at a time.
fail-load $ko 1000000 > "$W/said" || fail "they cannot be counted"
read -r error left < "$W/said"
[ "$error" = 0 ] || fail "it does not load: $error"
all=$((1000000 - left))
unload

refused=0
without=0
tried=0
# one N: the Nth of them fails
one() {
	n=$1
	tried=$((tried + 1))
	fail-load $ko "$n" > "$W/said" || fail "allocation $n: it cannot be made to fail"
	read -r error left < "$W/said"
	case $error in
	0)
		without=$((without + 1))
		cat "$T"/* > /dev/null 2>&1
		unload ;;
	ENOMEM)
		refused=$((refused + 1)) ;;
	*)
		fail "allocation $n: $error" ;;
	esac
	gone_again
}

# Each of the first and of the last, and some of those in between.
n=1
while [ $n -le "$all" ]; do
	one $n
	if [ $n -lt 40 ] || [ $n -gt $((all - 120)) ]; then
		n=$((n + 1))
	else
		n=$((n + (all - 160) / 40 + 1))
	fi
done
echo 0 > "$VGPU/fail_alloc"
echo "$all allocations, $tried of them made to fail: refused $refused times, loaded $without times"
[ $refused -gt 10 ] || fail "it was hardly refused"

step "and once more with all memory"
insmod $ko || fail "it does not load again"
(cd "$T" && find . | sort) | diff "$W/files" - || fail "not all files are there"
start a --queues 2 --packet 1ms
hold "$(pid a)"
release_target "$(pid a)"
stop a
