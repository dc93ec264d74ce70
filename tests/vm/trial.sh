# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# What the tests of trial share. gpreempt-load is on Debian 13's ROCm there, and no code of its
# kernel is executed.
. /t/lib.sh

mkdir -p /var/lib

# trial STATUS ARGS...: its page is then in $W/page, and what --output wrote in $W/trial.json.
trial() {
	_want=$1
	shift
	rm -f "$W/trial.json"
	gpreempt-ctl trial "$@" --output "$W/trial.json" < /dev/null > "$W/page" 2> "$W/trial.err"
	_got=$?
	[ $_got -eq "$_want" ] || fail "trial $* ended with $_got: $(cat "$W/trial.err" "$W/page")"
}

# break_in STAGE SWITCH ARGS...: set a switch of the GPU while a load is at work in that stage of a
# trial. Its exit status is then in $status.
break_in() {
	_stage=$1 _switch=$2
	shift 2
	gpreempt-ctl trial --yes "$@" --output "$W/trial.json" < /dev/null > "$W/page" 2> "$W/trial.err" &
	trial=$!
	started="$started $trial"
	in_stage() {
		grep -qx "$_stage" /var/lib/gpreempt/trial && ls /sys/class/kfd/kfd/proc/*/queues/*
	}
	wait_for 30 in_stage > /dev/null 2>&1
	switch 0 "$_switch" 1
	wait_for 150 gone $trial
	wait $trial
	status=$?
	cat "$W/page" "$W/trial.err"
}

# page REGEX: it has such a line.
page() {
	grep -Eq -e "$1" "$W/page" || fail "the page has no '$1': $(cat "$W/page")"
}

# All stages were done, and no claim that was tried does not hold.
all_hold() {
	for _stage in look view idle waves pause others schedule jobs endurance; do
		page "^[0-9]	$_stage	done"
	done
	! grep -q '^does not hold' "$W/page" || fail "$(cat "$W/page")"
}

# Nothing is held, and no program of the trial is there.
as_before() {
	nothing_held
	wait_for 30 no_kfd_process
	! grep -lq gpreempt-load /proc/[0-9]*/comm 2> /dev/null || fail "a load is left"
}
