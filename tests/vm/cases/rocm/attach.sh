# SPDX-License-Identifier: GPL-2.0-only
# A session that is asked for before hsa_init, at points in it, and in the
# middle of its end: refused or granted, the program never notices.
# timeout: 90
# driver: any
. /t/rocm.sh

finishes() {
	wait "$(pid "$1")"
	_status=$?
	grep '^done' "$W/$1.out"
	[ $_status -eq 0 ] || fail "$1 ended with $_status: $(cat "$W/$1.err")"
	[ "$(result "$1" completed)" = "$2" ] || fail "not $2 packets"
}

step "before hsa_init"
hsa_begin a 13 --wait 500ms --count 100
wait_for 5 says_program a '^waiting'
ctl 5 suspend "$(pid a)"
finishes a 100

# Points of hsa_init and of the queues' creation, in ms after the start.
for at in 30 60 90 130 180; do
	step "$at ms after its start"
	hsa_begin b 13 --queues 2 --packet 200us --count 600
	p=$(pid b)
	usleep ${at}000
	timeout $((20 * PACE)) gpreempt-ctl suspend "$p" --for 300ms > "$W/ctl" 2>&1
	status=$?
	head -n 1 "$W/ctl"
	echo "   exit status $status"
	case $status in
	0|3|5) ;;
	*) fail "suspend ended with $status" ;;
	esac
	finishes b 1200
	wait_for 3 nothing_held
done

for at in 0 30; do
	step "$at ms after the order to end"
	hsa_start c 13 --queues 2 --packet 200us --report 0
	p=$(pid c)
	kill -TERM "$p"
	usleep ${at}000
	timeout $((20 * PACE)) gpreempt-ctl suspend "$p" --for 300ms > "$W/ctl" 2>&1
	head -n 1 "$W/ctl"
	expect_good_end c
	[ "$(ms c shut_down)" -le $((1500 * SLOW)) ] || fail "hsa_shut_down took too long"
	wait_for 3 nothing_held
done
wait_for 3 no_kfd_process
