# SPDX-License-Identifier: GPL-2.0-only
# Each way for a process to end, while it is held and while its queues are
# suspended: it ends within 100 ms, and nothing is left.
# timeout: 120
. /t/steps.sh

# way HOW: sets $took and $status. HOW: a step, or a signal.
way() {
	case $1 in
	SIG*) end_time a kill "-${1#SIG}" "$p" ;;
	*) end_time a tell a "$1" ;;
	esac
}

# once MODE HOW
once() {
	steps_start a open init queue queue > /dev/null
	p=$(pid a)
	case $1 in
	suspended) hold "$p" > /dev/null ;;
	# A session that holds only one of its two queues.
	held) ctl 0 suspend "$p" --queues 0 > /dev/null ;;
	esac
	way "$2"
	[ $status -eq "$want" ] || fail "$2 while $1: ended with $status, not $want"
	expect_nothing_left "$p"
}

# The emulated CPU may be away for a while: the best of some counts, and what the
# same end takes when nobody holds the process is not the holder's.
for entry in exit:0 close:0 thread-exit:0 abort:134 SIGTERM:143 SIGKILL:137; do
	how=${entry%:*} want=${entry#*:}
	for mode in held suspended; do
		best=1000 free=1000
		for _ in 1 2 3 4 5; do
			once $mode "$how"
			[ "$took" -ge $best ] || best=$took
			[ $best -gt 10 ] || break
			once free "$how"
			[ "$took" -ge $free ] || free=$took
			[ $best -gt $((free + 10)) ] || break
		done
		echo "$how while $mode: ${best}0 ms"
		[ $best -le 10 ] || [ $best -le $((free + 10)) ] ||
			fail "$how while $mode: ${best}0 ms, ${free}0 ms when it is not held"
	done
done
wait_for 5 no_kfd_process
