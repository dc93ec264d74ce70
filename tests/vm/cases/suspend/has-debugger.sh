# SPDX-License-Identifier: GPL-2.0-only
# The target already has a debugger: status 7, and the debugger's session and
# the target are left alone.
# tier: gate
# timeout: 90
. /t/lib.sh

for kind in plain kfd; do
	step "$kind debugger"
	start a --packet 5ms
	p=$(pid a)
	debugger "$p" $kind > "$W/debugger" 2>&1 &
	d=$!
	started="$started $d"
	wait_for 15 grep -q attached "$W/debugger"
	ctl 7 suspend "$p"
	says_what_to_do "debug|traced|$d"
	ctl 7 preempt "$p" --count 1
	grep -q "TracerPid:[[:space:]]*$d" "/proc/$p/status" || fail "the debugger lost its target"
	expect_progress a
	kill -9 $d
	wait $d
	hold "$p"
	release_target "$p"
	stop a
done
