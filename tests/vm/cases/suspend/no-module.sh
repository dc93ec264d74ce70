# SPDX-License-Identifier: GPL-2.0-only
# Without gpreempt.ko: reading says what is missing, suspend works unverified.
# tier: gate
# gpreempt: no
# timeout: 90
. /t/lib.sh

start a --queues 2 --packet 5ms
p=$(pid a)
ctl 0 queues "$p"
says_what_to_do 'gpreempt|module'
ctl 0 suspend "$p"
says "^suspended $p: 2 queues, .*verified: not checked"
says '^slots not measured'
expect_no_progress a
ctl 0 status
ctl 0 resume "$p"
expect_progress a
stop a
