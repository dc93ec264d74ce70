# SPDX-License-Identifier: GPL-2.0-only
# Output that goes nowhere, a full disk, /run that cannot be written: each is
# reported as such, and the queues run or stay suspended as they should.
# timeout: 60
. /t/lib.sh

start a --queues 2 --packet 1ms
p=$(pid a)

step "stdout is closed: the failure shows, no file gets the output"
gpreempt-ctl suspend "$p" >&- 2> "$W/ctl"
[ $? -eq 1 ] || fail "no failure"
says_what_to_do 'cannot write the output'
expect_suspended "$p"
gpreempt-ctl status | grep -q "^$p	.*	suspend	gpreempt-ctl resume $p	" || fail "status"
gpreempt-ctl resume "$p" >&- 2> "$W/ctl"
wait_for 15 running "$p"
gpreempt-ctl preempt "$p" --count 3 --hold 1ms --interval 1ms >&- 2> "$W/ctl"
[ $? -eq 1 ] || fail "no failure"
says 'cannot write the output'
wait_for 15 running "$p"

step "the reader closes the pipe"
gpreempt-ctl preempt "$p" --count 3 --hold 1ms --interval 1ms --verbose | head -n 1 > "$W/ctl"
says '^cycle 1: '
wait_for 15 running "$p"

step "the disk is full"
gpreempt-ctl status --json > /dev/full 2> "$W/ctl"
[ $? -eq 1 ] || fail "no failure"
says 'No space left'
ctl 1 preempt "$p" --count 2 --hold 1ms --interval 1ms --samples /dev/full
says 'cannot write the samples: No space left'
wait_for 15 running "$p"

step "status names the command that releases each"
gpreempt-ctl preempt "$p" --count 1 --hold 30s > /dev/null 2>&1 &
c=$!
wait_for 15 view_is "$p" suspended 1
ctl 0 status
says "^$p	$c	.*	preempt	kill $c	"
ctl 7 suspend "$p"
says "next: wait for it, or end it: kill $c"
kill "$c"
wait_for 15 running "$p"
wait "$c"

step "/run cannot be written"
rm -rf /run/gpreempt
mount -t tmpfs -o ro none /run || fail "mount"
for command in suspend "preempt --count 1" follow; do
	# shellcheck disable=SC2086 # words
	ctl 1 $command "$p"
	says_what_to_do 'cannot make /run/gpreempt: Read-only'
	running "$p" || fail "it does not run"
done
umount /run
hold "$p"
release_target "$p"
stop a
