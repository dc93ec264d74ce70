# SPDX-License-Identifier: GPL-2.0-only
# The end of a debug session may wait for an interrupt that never comes (drain
# 1, seen on gfx 9.4.3), until the guardian ends the holder. A target must run
# again and be able to end all the same.
# timeout: 200
# The virtual GPU has no partitions, so this driver shifts by a node's number of 255:
# allow-log: UBSAN: shift-out-of-bounds in .*/kfd_priv\.h
# driver: any
. /t/lib.sh

check() {
	switch 0 drain "$1"
	limit=$2
	step "drain $1: the target ends while suspended"
	start a --queues 2 --packet 1ms --drain 0
	p=$(pid a)
	hold "$p"
	kill -TERM "$p"
	wait_for "$limit" gone "$p"
	wait_for 15 nothing_held

	step "drain $1: resume"
	start b --queues 2 --packet 1ms
	p=$(pid b)
	hold "$p"
	worker=$(holder_of "$p")
	timeout $((30 * PACE)) gpreempt-ctl resume "$p"
	echo "resume: status $?"
	wait_for 15 running "$p"
	expect_progress b
	wait_for "$limit" gone "$worker"
	stop b
}

check 2 15
check 1 40
