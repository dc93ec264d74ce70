# SPDX-License-Identifier: GPL-2.0-only
# A suspended program's waits last as long as the suspension and no longer,
# those for an interrupt and those by polling.
# timeout: 60
# driver: any
. /t/rocm.sh

# waits LABEL ARGS...: one packet at a time, each waited for without a limit.
waits() {
	hsa_start "$1" 13 --depth 1 --packet 1ms --forever ${2:+"$2"}
	p=$(pid "$1")
	expect_progress "$1"
	t0=$(uptime_cs)
	hold "$p"
	t1=$(uptime_cs)
	sleep 0.7
	t2=$(uptime_cs)
	release_target "$p"
	t3=$(uptime_cs)
	expect_progress "$1"
	stop "$1"
	# The clock of the shell has 10 ms steps; the emulated CPU may be away.
	between "$(result "$1" longest_wait_ms)" $(((t2 - t1) * 10 - 20)) \
		$(((t3 - t0) * 10 + 150)) "longest wait, ms"
}

step "by interrupt"
waits a
step "by polling"
waits b --poll
