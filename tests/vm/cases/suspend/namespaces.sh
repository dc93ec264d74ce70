# SPDX-License-Identifier: GPL-2.0-only
# Two targets in PID namespaces of their own, where both have the same PID: each is
# held by its PID on the host, and no command works from within.
# timeout: 90
. /t/namespaces.sh

start_two_inside

hold "$a"
expect_no_progress a
expect_progress b
hold "$b"
release_target "$a"
expect_progress a
expect_no_progress b
ctl 0 status
says "^$b[[:space:]]"

step "from within a namespace: status 3 and what to do"
unshare -p -f -m sh -c "mount -t proc proc /proc; mount -t tmpfs tmpfs /run
	gpreempt-ctl suspend 1" > "$W/ctl" 2>&1
status=$?
cat "$W/ctl"
[ $status -eq 3 ] || fail "status $status"
says_what_to_do 'namespace'
release_target "$b"
kill "$a" "$b"
wait_for 5 gone "$a"
wait_for 5 gone "$b"
expect_nothing_left "$a"
