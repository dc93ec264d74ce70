# SPDX-License-Identifier: GPL-2.0-only
# suspend of a held target succeeds with a note; so does resume of one that is
# not held.
# timeout: 90
. /t/lib.sh

start a --queues 2 --packet 1ms
p=$(pid a)
ctl 0 resume "$p"
says_what_to_do 'not held|not suspended'
hold "$p"
holder=$(holder_of "$p")
ctl 0 suspend "$p"
says 'already'
[ "$(holder_of "$p")" = "$holder" ] || fail "a second holder took over"
expect_suspended "$p"
ctl 7 preempt "$p" --count 1
says_what_to_do "held|resume"

release_target "$p"
stop a
