# SPDX-License-Identifier: GPL-2.0-only
# Which of root's capabilities the processes keep that hold targets: each thread of a
# holder, of guard and of follow, when they are started by root with all of them. What
# they do with these is in the other cases, which start them in the same way.
# timeout: 90
. /t/lib.sh
. /t/guard.sh

# SYS_NICE 23, SYS_PTRACE 19, IPC_LOCK 14, DAC_READ_SEARCH 2, and CHECKPOINT_RESTORE 40:
# also one that does not pause undoes a pause that was left behind
HOLDER=0000010000884004
# And SYS_ADMIN 21: guard and follow read the roles of cgroups
FINDER=0000010000a84004
# And FOWNER 3, DAC_OVERRIDE 1
WRITER=0000010000a8400e
NONE=0000000000000000

# has PID RIGHTS [BOUND]: all of its threads. Who has no CAP_SETPCAP keeps the bound of its parent,
# and no_new_privs keeps a program from getting more than RIGHTS of it.
has() {
	_seen=$(awk '/^(Cap|NoNewPrivs)/ { printf "%s%s ", $1, $2 } /^NoNewPrivs/ { print "" }' \
		/proc/"$1"/task/*/status | sort -u)
	_want="NoNewPrivs:1 "
	_want="CapInh:$NONE CapPrm:$2 CapEff:$2 CapBnd:${3:-$2} CapAmb:$NONE $_want"
	# The kernel's order of the lines is its own.
	[ "$(printf '%s\n' "$_seen" | wc -l)" -eq 1 ] || fail "threads of $1 differ: $_seen"
	for _word in $_want; do
		case " $_seen" in
		*" $_word "*) ;;
		*) fail "$1 ($(cat "/proc/$1/comm")): no $_word in $_seen" ;;
		esac
	done
}

one_child() {
	[ -n "$(children "$1")" ]
}

grep -q "^CapEff:.*ffff" /proc/self/status || fail "this shell has not all rights"
start a --queues 2 --packet 1ms
p=$(pid a)

step "a holder's worker and guardian"
hold "$p" --for 60s
has "$(holder_of "$p")" $HOLDER
has "$(guardian_of "$p")" $HOLDER
release_target "$p"
wait_for 15 nothing_held

step "guard, and its worker"
guard --online comm:none --offline "$p"
wait_for 20 said "process $p is offline"
has "$g" $FINDER
for c in $(children "$g"); do
	has "$c" $HOLDER $FINDER
done
tracer=$(sed -n 's/^TracerPid:[[:space:]]*//p' "/proc/$p/status")
children "$g" | grep -qx "$tracer" || fail "guard has no worker"
end_guard

step "guard that writes files in a directory of another user"
mkdir -m 700 "$W/of-a-user"
chown 1000:1000 "$W/of-a-user"
guard --online comm:none --offline "$p" --metrics "$W/of-a-user/m.prom"
wait_for 20 said "process $p is offline"
has "$g" $WRITER
wait_for 20 test -s "$W/of-a-user/m.prom"
end_guard

step "follow, and its follower"
setsid gpreempt-ctl follow "$p" > "$W/guard" 2>&1 &
g=$!
started="$started $g"
wait_for 15 said "^following $p"
has "$g" $FINDER
one_child "$g" || fail "no follower"
for c in $(children "$g"); do
	has "$c" $HOLDER $FINDER
done
end_guard

step "no cgroup of a holder is left, though it may not write to their root"
no_group() {
	for d in /sys/fs/cgroup/gpreempt-hold/*/; do
		[ ! -d "$d" ] || return 1
	done
}
wait_for 15 no_group
expect_progress a
stop a
