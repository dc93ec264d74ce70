# SPDX-License-Identifier: GPL-2.0-only
# The same program paused and unpaused many times ($PAUSES): nothing lost, nothing twice,
# what was copied is right.
# timeout: 240
. /t/rocm.sh
. /t/pause.sh

hip_start a 4 300
p=$(pid a)
expect_progress a
gp 0 pause "$p"
expect_paused "$p"
gp 0 unpause "$p"
expect_progress a
cycles "$p" 100
expect_progress a
stop a
[ "$(result a copies)" -gt 0 ] || fail "no copies"
[ "$(result a differ)" = 0 ] || fail "copied data is wrong"
