# SPDX-License-Identifier: GPL-2.0-only
# A queue that the driver has suspended but that stays in its slots: the view
# says stuck, the tool that the suspend is not verified.
# timeout: 90
. /t/lib.sh

start a --queues 2 --packet 1ms
p=$(pid a)
wait_for 15 running "$p"
switch 0 keep_slot 1
ctl 6 suspend "$p"
says_what_to_do 'has not released all of its queues'
says "verified: no"
expect_view "$p" state suspended,stuck
expect_view "$p" suspended 1
expect_view "$p" active 4
[ "$(awk 'NR > 2' "$VIEW/$p/hqds" | wc -l)" -eq 8 ] || fail "not 8 slots"

step "the slots are released: only suspended"
switch 0 keep_slot 0
wait_for 5 view_is "$p" state suspended
expect_view "$p" active 0
ctl 0 resume "$p"
wait_for 15 running "$p"
expect_view "$p" state active
stop a
