# SPDX-License-Identifier: GPL-2.0-only
# Two targets in PID namespaces of their own, where both have the same PID: each is
# paused by its PID on the host, and no command pauses or repairs from within.
# timeout: 90
# driver: any
. /t/namespaces.sh

# refused_inside ARGUMENTS: by gpreempt-ctl in a namespace of its own, with exit status 3.
refused_inside() {
	unshare -p -f -m sh -c 'mount -t proc proc /proc; exec gpreempt-ctl "$@"' sh "$@" \
		> "$W/ctl" 2>&1
	status=$?
	cat "$W/ctl"
	[ $status -eq 3 ] || fail "gpreempt-ctl $*: status $status"
	says_what_to_do 'namespace'
}

start_two_inside

ctl 0 suspend "$a" --how pause
expect_no_progress a
expect_progress b
ctl 0 suspend "$b" --how pause
expect_no_progress b

step "from within a namespace: status 3, what to do, and nothing is changed"
refused_inside suspend "$inner" --how pause
refused_inside resume "$a"
refused_inside repair
expect_no_progress a
expect_no_progress b
[ -e "/run/gpreempt/$a.pause" ] && [ -e "/run/gpreempt/$b.pause" ] || fail "an entry is gone"

ctl 0 resume "$a"
expect_progress a
expect_no_progress b

step "its namespace ends while it is paused: no entry stays"
kill -KILL "$b"
wait_for 5 gone "$b"
ctl 0 repair
[ ! -e "/run/gpreempt/$b.pause" ] || fail "an entry stays"
kill "$a"
wait_for 5 gone "$a"
expect_nothing_left "$a"
