# SPDX-License-Identifier: GPL-2.0-only
# A program that makes a further KFD context, as newer drivers let it: its queues are in
# the view with the number of that context. The driver's debugger cannot suspend them: a
# session is refused, and a suspend that may choose pauses the program; both say why. A
# driver without contexts refuses to make one.
# timeout: 120
# driver: any
. /t/lib.sh

T=$DEBUGFS/gpreempt
if ! grep -qx "feature_contexts on" "$T/version"; then
	step "this driver gives each process one context: it refuses to make another"
	grep -qx "feature_contexts off:kfd_process.context_id" "$T/version" ||
		fail "$(grep contexts "$T/version")"
	SECOND_CONTEXT=1 timeout $((20 * PACE)) vgpu-load-update --queues 1 --packet 1ms \
		> "$W/out" 2>&1
	[ $? -eq 1 ] || fail "the program made one: $(cat "$W/out")"
	# What a driver says to a number that it does not know: AMD's, the latter
	grep -Eq 'Inappropriate ioctl|Invalid argument' "$W/out" || fail "$(cat "$W/out")"
	exit 0
fi

step "two programs, one of them with its queues in a further context"
start b --queues 1 --packet 1ms
export SECOND_CONTEXT=1
PROGRAM=vgpu-load-update start a --queues 2 --packet 1ms
unset SECOND_CONTEXT PROGRAM
a=$(pid a) b=$(pid b)
wait_for 15 running "$a"
cat "$VIEW/$a/queues"
expect_view "$b" context -
[ "$(view "$a" qid | wc -l)" -eq 2 ] || fail "not two queues"
context=$(view "$a" context | sort -u)
case $context in
''|-|*[!0-9]*) fail "its queues are of context '$context'" ;;
esac
[ "$(awk 'NR > 2' "$VIEW/$a/hqds" | wc -l)" -eq 8 ] || fail "not 8 slots"
cat "$VIEW/$a/gpus"
[ "$(awk -v c="$context" 'NR > 2 && $3 == c { print $2 }' "$VIEW/$a/gpus")" = 1 ] ||
	fail "no address space of context $context"

step "a session of it is refused by name, with and without the module; the queues go on"
ctl 3 suspend "$a" --how debug
says_what_to_do 'further KFD contexts'
expect_progress a
unload
ctl 3 suspend "$a" --how debug
says_what_to_do 'further KFD contexts'
expect_progress a
insmod /lib/modules/gpreempt.ko || fail "it does not load again"
wait_for 15 running "$a"
nothing_held || fail "something is held: $(cat "$W/status")"

step "it is paused where a suspend may choose"
ctl 0 suspend "$a"
says 'further KFD contexts.* so it is paused'
says "^paused $a: 2 queues, .*verified: yes"
expect_no_progress a
release_target "$a"
expect_progress a

step "the other one is suspended as ever, beside it"
hold "$b"
expect_no_progress b
expect_progress a
release_target "$b"
stop a
wait_for 15 not_in_view "$a"
stop b
