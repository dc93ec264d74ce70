# SPDX-License-Identifier: GPL-2.0-only
# A GPU process that never enabled the runtime cannot be suspended through the
# debug interface: status 3 and why.
# timeout: 90
. /t/lib.sh

start a --packet 1ms --no-runtime
ctl 3 suspend "$(pid a)" --how debug
says_what_to_do 'runtime'
expect_progress a
not_traced "$(pid a)" || fail "it is still traced"
stop a
