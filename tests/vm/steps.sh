# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# For tests of what a target does while it is held: gpu-steps, a GPU process
# that takes its steps one by one.
. /t/lib.sh

# steps_start LABEL LINE...: it has taken these steps when this returns.
steps_start() {
	_label=$1
	shift
	rm -f "$W/$_label.in"
	mkfifo "$W/$_label.in"
	: > "$W/$_label.out"
	# Open for writing too, so that it never reads an end.
	gpu-steps "$@" 0<> "$W/$_label.in" > "$W/$_label.out" 2> "$W/$_label.err" &
	eval "pid_$_label=$!"
	started="$started $!"
	wait_for 20 steps_taken "$_label" $#
	! grep '^failed' "$W/$_label.out" || fail "$_label could not start"
}

steps_taken() {
	[ "$(grep -cE '^(done|failed) ' "$W/$1.out")" -ge "$2" ]
}

last_step() {
	grep -E '^(done|failed) ' "$W/$1.out" | tail -n 1
}

# tell LABEL LINE: without waiting for it.
tell() {
	echo "$2" > "$W/$1.in"
}

# take LABEL LINE: a step, and wait until it is done. $us: what it took.
take() {
	_before=$(grep -cE '^(done|failed) ' "$W/$1.out")
	tell "$1" "$2"
	wait_for 20 steps_taken "$1" $((_before + 1))
	us=$(last_step "$1")
	case $us in
	done*) us=${us##* } ;;
	*) fail "$us" ;;
	esac
	echo "   $1: $2, $us us"
}

# refused LABEL LINE REGEX: the driver does not let it take this step.
refused() {
	_before=$(grep -cE '^(done|failed) ' "$W/$1.out")
	tell "$1" "$2"
	wait_for 20 steps_taken "$1" $((_before + 1))
	last_step "$1" | grep "^failed.*$3" || fail "not refused: $(last_step "$1")"
}

# said LABEL WORD: the number behind the last such word.
said() {
	awk -v word="$2" '$1 != "done" { for (i = 1; i < NF; i++) if ($i == word) n = $(i + 1) }
		END { print n }' "$W/$1.out"
}

queue_number() {
	view "$1" qid | wc -l
}

# expect_free LABEL: it is not held, its queues run, and no holder is left.
expect_free() {
	wait_for 15 running "$(pid "$1")"
	wait_for 15 not_traced "$(pid "$1")"
	wait_for 15 nothing_held
	wait_for 15 no_holder
}

no_holder() {
	[ -z "$(holders)" ]
}

# PIDs of all holders' processes.
holders() {
	for _d in /proc/[0-9]*; do
		{ read -r _comm < "$_d/comm"; } 2> /dev/null || continue
		[ "$_comm" != gpreempt-hold ] || gone "${_d#/proc/}" || echo "${_d#/proc/}"
	done
}

# leave_paused PID: its holder and its guardian are killed at once
leave_paused() {
	ctl 0 suspend "$1" --how pause
	expect_view "$1" evicted 1
	first=$(holder_of "$1") second=$(guardian_of "$1")
	kill -9 "$first" "$second"
	wait_for 5 gone "$first"
	wait_for 5 gone "$second"
}

# expect_nothing_left PID: of a target that has ended.
expect_nothing_left() {
	wait_for 5 not_in_view "$1"
	wait_for 5 test ! -e "/sys/class/kfd/kfd/proc/$1"
	wait_for 15 nothing_held
	wait_for 15 no_holder
	[ -z "$(ls /run/gpreempt)" ] || fail "left behind: $(ls /run/gpreempt)"
}

# end_time LABEL COMMAND...: the command ends the process; $took is how long
# that took, in hundredths of a second, $status how it ended.
end_time() {
	_p=$(pid "$1")
	shift
	_t0=$(uptime_cs)
	"$@"
	wait "$_p"
	status=$?
	took=$(($(uptime_cs) - _t0))
}

# end_by LABEL HOW: it ends by a signal, as in SIGTERM, or by a step; see end_time.
end_by() {
	case $2 in
	SIG*) end_time "$1" kill "-${2#SIG}" "$(pid "$1")" ;;
	*) end_time "$1" tell "$1" "$2" ;;
	esac
}

# end_once MODE HOW STATUS: of a process with two queues. $took as of end_time.
end_once() {
	steps_start e open init queue queue > /dev/null
	_p=$(pid e)
	case $1 in
	suspended) hold "$_p" > /dev/null ;;
	# A session that holds only one of its two queues.
	held) ctl 0 suspend "$_p" --queues 0 > /dev/null ;;
	esac
	end_by e "$2"
	[ $status -eq "$3" ] || fail "$2 while $1: ended with $status, not $3"
	expect_nothing_left "$_p"
}

# ends_in_time MODE HOW STATUS: within 100 ms. For tests with a counted clock.
ends_in_time() {
	end_once "$@"
	echo "$2 while $1: ${took}0 ms"
	[ "$took" -le $((10 * SLOW)) ] || fail "$2 while $1: ${took}0 ms"
}

# again PID LABEL ARGS...: a GPU process with this PID. False: a thread that the kernel made
# in that moment has it, and keeps it.
again() {
	_wanted=$1 _again=$2
	shift 2
	for _ in 1 2 3 4 5; do
		echo $((_wanted - 1)) > /proc/sys/kernel/ns_last_pid
		start "$_again" --packet 1ms "$@"
		[ "$(pid "$_again")" -ne "$_wanted" ] || return 0
		kill -9 "$(pid "$_again")"
		wait "$(pid "$_again")"
	done
	[ -d "/proc/$_wanted" ] || fail "PID $_wanted was not given again"
	echo "PID $_wanted is now $(cat "/proc/$_wanted/comm")"
	return 1
}
