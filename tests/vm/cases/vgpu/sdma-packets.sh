# SPDX-License-Identifier: GPL-2.0-only
# Each SDMA packet that the virtual GPU knows does what it says, and no more.
# gpreempt: no
# timeout: 30
# driver: any
. /t/lib.sh

sdma-check || fail "see above"
[ "$(counter 0 sdma_unknown)" -eq 0 ] || fail "a packet was not understood"
[ "$(counter 0 bad_address)" -eq 0 ] || fail "an address was not found"
