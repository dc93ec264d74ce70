# SPDX-License-Identifier: GPL-2.0-only
# A GPU with one XCC.
# vgpu: xccs=1
# timeout: 90
. /t/lib.sh

[ "$(property "$(gpu_nodes)" num_xcc)" -eq 1 ] || fail "num_xcc"
start a --queues 3 --packet 500us
wait_for 15 view_is "$(pid a)" slots 1
hold "$(pid a)"
expect_no_progress a
release_target "$(pid a)"
stop a
