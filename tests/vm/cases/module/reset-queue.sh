# SPDX-License-Identifier: GPL-2.0-only
# A queue that the driver has reset, which newer drivers mark. This one has no such
# mark: first the feature is off; then its BTF says that is_suspended is it.
# gpreempt: no
# timeout: 90
. /t/lib.sh

T=$DEBUGFS/gpreempt
module=/lib/modules/gpreempt.ko
start a --queues 2 --packet 1ms
p=$(pid a)
only_without resets "this driver marks queues itself: there is no field to take for the mark"
insmod $module || fail "it does not load"
grep -qx "feature_resets off:queue_properties.is_reset" "$T/version" || fail "$(grep resets "$T/version")"
unload

btf-doctor graft $module queue_properties is_suspended is_reset bool || fail "it does not load"
grep -qx "feature_resets on" "$T/version" || fail "$(grep resets "$T/version")"
wait_for 15 view_is "$p" state active
timeout $((60 * PACE)) gpreempt-ctl suspend "$p" --queues 1
view_is "$p" state reset 1 || fail "queue 1: $(view "$p" state 1)"
view_is "$p" state active 0 || fail "queue 0: $(view "$p" state 0)"
ctl 0 resume "$p"
wait_for 15 view_is "$p" state active
stop a
