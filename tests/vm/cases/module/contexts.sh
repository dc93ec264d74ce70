# SPDX-License-Identifier: GPL-2.0-only
# Several KFD contexts of one process, as newer drivers have them. This driver has
# no context_id: first the feature is off; then its BTF says that the time of the last
# restore is one, where the virtual GPU puts numbers, and the virtual GPU gives what KFD
# has of one process to another.
# vgpu: gpus=1
# gpreempt: no
# timeout: 90
. /t/lib.sh

module=/lib/modules/gpreempt.ko
T=$DEBUGFS/gpreempt

# graft TYPE: the module is loaded and finds a context_id of that type
graft() {
	btf-doctor graft $module kfd_process last_restore_timestamp context_id "$1" ||
		fail "it does not load"
}

feature_is() {
	grep -qx "feature_contexts $1" "$T/version" || fail "$(grep contexts "$T/version")"
}

context_is() {
	wait_for 15 running "$1"
	expect_view "$1" context "$2"
}

only_without contexts \
	"this driver has contexts itself, and no field of another kind is taken for one"
start a --queues 2 --packet 1ms
start b --queues 3 --packet 1ms
a=$(pid a) b=$(pid b)

# A process that ends without its MMU notifier is a panic.
show_notifier() {
	echo 0 > "$VGPU/secondary"
}
trap 'show_notifier 2> /dev/null; cleanup' EXIT

step "a driver without contexts, and one whose context_id has another size"
insmod $module || fail "it does not load"
feature_is off:kfd_process.context_id
context_is "$a" -
unload
graft u32
feature_is off:kfd_process.context_id:type
unload

step "a driver with contexts"
graft u16
feature_is on
for p in "$a" "$b"; do
	echo "$p $p" > "$VGPU/same_pid" || fail "the virtual GPU gives it no number"
done
context_is "$a" 1
context_is "$b" 2

step "two contexts of one process, the second without an MMU notifier"
echo "$b" > "$VGPU/secondary" || fail "the virtual GPU does not hide the notifier"
echo "$a $b" > "$VGPU/same_pid" || fail "the virtual GPU does not do it"
wait_for 15 not_in_view "$b"
cat "$VIEW/$a/queues"
view "$a" context > "$W/contexts"
view "$a" qid | paste -d' ' "$W/contexts" - | sort > "$W/got"
for q in 0 1; do echo "- $q"; done > "$W/want"
for q in 0 1 2; do echo "3 $q"; done >> "$W/want"
sort "$W/want" | cmp - "$W/got" || fail "contexts and ids of queues"
running "$a" || fail "not all slots"
[ "$(awk 'NR > 2' "$VIEW/$a/hqds" | wc -l)" -eq 20 ] || fail "not 20 slots"
awk -v p="$a" 'NR == 2 { for (i = 2; i <= NF; i++) c[$i] = i - 1 }
	$1 == p { print $c["queues"], $c["slots"], $c["active"] }' "$T/processes" > "$W/sum"
[ "$(cat "$W/sum")" = "5 20 20" ] || fail "processes says '$(cat "$W/sum")'"

step "one of them ends, then the other"
show_notifier
kill -9 "$b"	# KFD takes no call from it any more
wait_for 15 view_is "$a" context -
[ "$(view "$a" qid | wc -l)" -eq 2 ] || fail "queues of the one that ended"
stop a
wait_for 15 not_in_view "$a"
