# SPDX-License-Identifier: GPL-2.0-only
# Hardware that must not be touched is not touched, and the view says why.
# vgpu: gpus=2
# timeout: 120
. /t/lib.sh

T=$DEBUGFS/gpreempt
start a --queues 2 --sdma 1 --packet 1ms --rate 100
start b --gpus 1 --packet 1ms
p=$(pid a)
wait_for 15 running "$p"

node_hardware() { awk 'NR > 2 { print $8, $9, $11 }' "$T/nodes" | sed -n 1p; }

# untouched SWITCH WORD: of GPU 0; GPU 1 goes on being read
untouched() {
	step "$2"
	switch 0 "$1" 1
	reads=$(counter 0 reg_reads)
	expect_view "$p" hardware "$2"
	expect_view "$p" active -
	expect_view "$p" rptr -
	expect_view "$p" waves -
	expect_view "$p" state wanted
	[ "$(awk 'NR > 2 { print $9, $11 }' "$VIEW/$p/hqds" | sort -u)" = "- $2" ] ||
		fail "hqds does not say why"
	[ "$(node_hardware)" = "$2 - -" ] || fail "nodes says '$(node_hardware)'"
	[ "$(awk -v p="$p" '$1 == p { print $10 }' "$T/processes")" = - ] || fail "processes"
	# The driver may read a register or two for itself; a slot has 56.
	between "$(($(counter 0 reg_reads) - reads))" 0 20 "register reads"
	expect_view "$(pid b)" hardware read
	expect_view "$(pid b)" active 4
	switch 0 "$1" 0
	wait_for 15 running "$p"
	expect_view "$p" hardware read
}

untouched asleep asleep
untouched gfxoff gfxoff
untouched apu gfxoff
untouched sriov sriov
untouched in_reset reset
untouched stopped stopped
stop a
stop b
