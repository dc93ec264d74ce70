# SPDX-License-Identifier: GPL-2.0-only
# What list, queues, doctor and monitor printed on a host they print of its snapshot, also
# when nothing of that is left: of a process that runs and one that is held, then without
# the module; as an ordinary user.
# timeout: 90
# driver: any
. /t/lib.sh

tab=$(printf '\t')

# What only a host knows: the role of a holder, what the driver answers, the log before it was last
# cleared, /run/gpreempt, which alone names the holder of a pause. And the indices and waves of a
# queue that runs have moved on.
held=7
has_debug_trap || by_lock=held_by held=0
common() {
	grep -Ev "^[a-z]*$tab(kfd|sessions|pauses|preemptions|run-directory)$tab" |
		awk -F '\t' -v OFS='\t' -v lock="$by_lock" '
			NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^(rptr|wptr|waves|held_as|held_us|held_uid)$/ || $i == lock) skip[i] }
			{ for (i in skip) $i = "*"; print }'
}

# now NAME ARGS...: what it prints on this host.
now() {
	_n=$1
	shift
	gpreempt-ctl "$@" > "$W/$_n" 2> "$W/$_n.err"
	echo "$? $*" > "$W/$_n.command"
}

# from NAME DIR: the same of a snapshot.
from() {
	read -r _want _words < "$W/$1.command"
	step "$_words"
	# shellcheck disable=SC2086 # words
	gpreempt-ctl $_words --from "$2" > "$W/from" 2> "$W/from.err"
	_got=$?
	[ $_got -eq "$_want" ] || fail "it ended with $_got, not $_want: $(cat "$W/from.err")"
	[ -s "$W/from" ] || fail "nothing is printed"
	common < "$W/$1" > "$W/a"
	common < "$W/from" | diff "$W/a" - || fail "it is not as it was"
}

start a --queues 2 --sdma 1 --packet 1ms
start b --queues 3 --packet 1ms
a=$(pid a) b=$(pid b)
hold "$b"
wait_for 15 running "$a"
now 1 list
now 2 queues "$b" --json
now 3 queues comm:vgpu-load --queues 1,2
now 4 doctor
now 5 doctor "$a"
now 6 list comm:vgpu-load
[ "$(grep -c vgpu-load "$W/1")" -eq 2 ] || fail "list does not name the two processes"
# The lock of a hold is in no snapshot, from which doctor sees a tracer alone.
ctl 0 doctor "$b"
says "process $b is (held|paused) by gpreempt-ctl suspend"
lab 0 snapshot -o "$W/snap"
release_target "$b"
stop b
unload

step "without the module"
now 8 list
now 9 queues "$a" --json
now 10 doctor "$a"
lab 0 snapshot -o "$W/without"
stop a
wait_for 15 no_kfd_process

step "on another host"
wait_for 5 rmmod vgpu
for n in 1 2 3 4 5 6; do
	from $n "$W/snap"
done
for n in 8 9 10; do
	from $n "$W/without"
done
# The status of a process names its tracer; a pause shows in the queues alone.
ctl $held doctor "$b" --from "$W/snap"
says "process $b is (paused|traced) by (another program|process)"
ctl 0 monitor "$a" --from "$W/snap"
says "$tab$a${tab}3${tab}"
says "^# process $a: 1 samples in "
ctl 0 queues "$a" --from "$W/without"
says 'the snapshot does not have the process as gpreempt.ko shows it'
ctl 5 queues 1 --from "$W/snap"

step "as an ordinary user"
lab 0 decode "$W/snap"
as-user gpreempt-ctl list --from "$W/snap" > "$W/ctl" 2>&1
[ $? -eq 2 ] || fail "who may not read it gets another status: $(cat "$W/ctl")"
says_what_to_do 'Permission denied'
chmod -R a+rX "$W"
as-user gpreempt-ctl list --from "$W/snap" > "$W/ctl" 2>&1 || fail "$(cat "$W/ctl")"
says "^$b$tab.*${tab}(suspended|paused)$tab"

step "no snapshot"
for dir in "$W/missing" "$W" / "$W/1"; do
	ctl 2 list --from "$dir"
	says_what_to_do "^gpreempt-ctl: --from $dir: "
done
