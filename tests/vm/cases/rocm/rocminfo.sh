# SPDX-License-Identifier: GPL-2.0-only
# Two Debian releases' own rocminfo lists the GPU as an MI308X.
# tier: gate
. /t/rocm.sh

expect_rocminfo 12 1
expect_rocminfo 13 1
[ "$(property "$(gpu_nodes)" num_xcc)" = 4 ] || fail "not 4 XCCs"
