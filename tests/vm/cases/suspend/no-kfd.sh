# SPDX-License-Identifier: GPL-2.0-only
# /dev/kfd is missing: status 3 and what to do.
# timeout: 90
. /t/lib.sh

start a --packet 1ms
mv /dev/kfd /dev/kfd.away
ctl 3 suspend "$(pid a)"
says_what_to_do '/dev/kfd'
ctl 3 preempt "$(pid a)" --count 1
says_what_to_do '/dev/kfd'
mv /dev/kfd.away /dev/kfd
expect_progress a
stop a
