# SPDX-License-Identifier: GPL-2.0-only
# Programs on ROCr, paused many times: 5.2, which enables no KFD runtime and has no
# debug session, and 6.1. Each packet runs once and the copies are right.
# timeout: 120
# driver: any
# vgpu: gpus=1 xccs=1
. /t/rocm.sh
. /t/pause.sh

# paused_program GENERATION
paused_program() {
	step "ROCr of Debian $1"
	hsa_start "a$1" "$1" --queues 2 --packet 200us --copy 65536
	p=$(pid "a$1")
	wait_for 15 has_queues "$p" "3 compute-aql 2 sdma"
	wait_for 15 running "$p"
	gp 0 pause "$p"
	expect_paused "$p"
	expect_no_progress "a$1"
	gp 0 unpause "$p"
	wait_for 15 running "$p"
	cycles "$p" 50
	expect_progress "a$1"
	stop "a$1"
	[ "$(result "a$1" copies)" -gt 0 ] || fail "no copies"
	[ "$(result "a$1" differ)" = 0 ] || fail "copied data is wrong"
}

paused_program 12
paused_program 13
