# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# What the tests of other generations share, besides lib.sh.

# has_properties NODE: lines "name value" on standard input, as sysfs has them. AMD's own
# driver shows no sizes of the save area; there it takes a queue of vgpu-load's only if
# these are right.
has_properties() {
	while read -r _name _value; do
		case $_name:$(property "$1" "$_name") in
		cwsr_size: | ctl_stack_size:) continue ;;
		esac
		[ "$(property "$1" "$_name")" = "$_value" ] ||
			fail "$_name is '$(property "$1" "$_name")', not $_value"
	done
}

# watch_points NODE: how many addresses a debugger can watch (HSA_CAP_WATCH_POINTS)
watch_points() {
	_cap=$(property "$1" capability)
	echo $((_cap & 1 << 7 ? 1 << (_cap >> 8 & 15) : 0))
}

# off_and_on LABEL: suspended, it stands still; resumed, it goes on
off_and_on() {
	hold "$(pid "$1")"
	expect_no_progress "$1"
	release_target "$(pid "$1")"
	expect_progress "$1"
}

# node_cell NODE COLUMN: of the file nodes
node_cell() {
	awk -v node="$1" -v want="$2" '
		NR == 2 { for (i = 2; i <= NF; i++) c[$i] = i - 1; next }
		NR > 2 && $c["node"] == node { print $c[want] }' "$DEBUGFS/gpreempt/nodes"
}

gpu_id() {
	printf 0x%x "$(cat "$TOPOLOGY/$1/gpu_id")"
}

# xccs_of PID GPU_ID: those of its slots
xccs_of() {
	awk -v id="$2" 'NR == 2 { for (i = 2; i <= NF; i++) c[$i] = i - 1; next }
		NR > 2 && $c["gpu_id"] == id && $c["xcc"] ~ /^[0-9]/ { print $c["xcc"] }' \
		"$VIEW/$1/hqds" | sort -u | tr '\n' ' '
}

# Two processes with compute queues, the first with SDMA too, as the view shows them.
start_two() {
	start a --queues 3 --sdma 2 --packet 500us
	start b --queues 2 --packet 500us
	p=$(pid a)
	wait_for 15 running "$p"
	wait_for 15 running "$(pid b)"
	cat "$VIEW/$p/queues"
	expect_view "$p" slots 1
	expect_view "$p" hardware read
}
