# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# For tests of a hold beside another program that traces the process: peer.
. /t/steps.sh

# peer_start PID: it waits for lines; $peer is its PID
peer_start() {
	rm -f "$W/peer.in"
	mkfifo "$W/peer.in"
	: > "$W/peer"
	peer "$1" 0<> "$W/peer.in" > "$W/peer" 2>&1 &
	peer=$!
	started="$started $peer"
}

peer_answers() {
	[ "$(grep -cE '^(done|failed) ' "$W/peer")" -gt "$1" ]
}

# asked LINE: what it answers is then $answer
asked() {
	_n=$(grep -cE '^(done|failed) ' "$W/peer")
	echo "$1" > "$W/peer.in"
	wait_for 20 peer_answers "$_n"
	answer=$(tail -n 1 "$W/peer")
	echo "   peer: $answer"
}

# peer_does LINE...
peer_does() {
	for _l; do
		asked "$_l"
		[ "$answer" = "done $_l" ] || fail "peer: $answer"
	done
}

# peer_cannot LINE REGEX
peer_cannot() {
	asked "$1"
	echo "$answer" | grep -q "^failed $1: .*$2" || fail "peer: $answer"
}

# peer_target LABEL TIME: a process with packets of that time, whose PID is $p, and peer for it
peer_target() {
	start "$1" --queues 2 --packet "$2"
	p=$(pid "$1")
	peer_start "$p"
}

# peer_target_killed: that is off the GPU for good, and peer ends, too
peer_target_killed() {
	kill -9 "$p"
	wait "$p"
	kill -9 "$peer"
	wait_for 15 nothing_held
}

peer_killed() {
	kill -9 "$peer"
	wait "$peer"
}

# hold_by HOW PID OPTIONS...
hold_by() {
	_how=$1 _p=$2
	shift 2
	ctl 0 suspend "$_p" --how "$_how" "$@"
	says "^(suspended|paused) $_p: .*verified: yes"
	expect_off "$_p"
}

# counts_pauses: does the driver count a second pause? doctor asks it; one without a debug
# trap does (criu_process_info() of 6.1).
counts_pauses() {
	! has_debug_trap ||
		gpreempt-ctl doctor 2> /dev/null | grep -q 'this driver counts pauses'
}

# evictions PID: of its first GPU, as the driver counts them now
evictions() {
	awk 'NR == 2 { sub("^# *", ""); for (i = 1; i <= NF; i++) at[$i] = i }
		NR == 3 { print $at["evictions"] }' "$VIEW/$1/gpus"
}

# expect_off PID: none of its queues is on the GPU
expect_off() {
	expect_view "$1" active 0
}

# let_go LABEL
let_go() {
	ctl 0 resume "$(pid "$1")"
	says "^resumed $(pid "$1"): "
	expect_free "$1"
	expect_progress "$1"
}
