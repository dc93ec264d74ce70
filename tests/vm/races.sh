# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# For tests of races, in races/: commands that run at once while threads are switched at
# the times of $SEED, which also decides what a test does at random.
. /t/steps.sh

seed=$SEED
commands=0

# After what a test only needs to begin with.
chaos_begin() {
	echo "$SEED" > "$VGPU/chaos"
}

chaos_end() {
	cat "$VGPU/chaos"
	echo 0 > "$VGPU/chaos"
}

# later N: a random time below N ms.
later() {
	draw "$1"
	usleep "${drawn}000"
}

# run ARGS...: a command, while others run; ended looks how it ended.
run() {
	commands=$((commands + 1))
	gpreempt-ctl "$@" > "$W/c.$commands" 2>&1 &
	eval "job_$commands=$! args_$commands=\"$*\""
}

# ended STATUS...: all of these commands, each with one of them.
ended() {
	while [ $commands -gt 0 ]; do
		eval "wait \$job_$commands; _status=\$? _args=\$args_$commands"
		case " $* " in
		*" $_status "*) ;;
		*) fail "$_args ended with $_status: $(cat "$W/c.$commands")" ;;
		esac
		echo "   $_args: $_status"
		[ "$_status" -eq 0 ] || sed 's/^/      /' "$W/c.$commands"
		commands=$((commands - 1))
	done
}

# kill_holder PID worker|guardian: if it is held. By its status file, which costs a
# command: in the middle of what else is done.
kill_holder() {
	_p=$("$2_of" "$1")
	case $_p in
	''|-) ;;
	*) kill -9 "$_p" 2> /dev/null && echo "   killed $2 $_p" ;;
	esac
}

# all_free LABEL: not held, no tracer, no holder's process, no file; each packet once.
all_free() {
	chaos_end
	expect_free "$1"
	wait_for 15 no_called gpreempt-pause
	stop "$1"
	wait_for 15 nothing_in_run
}

nothing_in_run() {
	[ -z "$(ls -A /run/gpreempt 2> /dev/null)" ]
}

no_called() {
	[ -z "$(pidof "$1")" ]
}
