# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# What the VM tests share. A test sources it and then says what must hold:
# each function that checks something ends the test when it does not.

DEBUGFS=/sys/kernel/debug
VIEW=$DEBUGFS/gpreempt/pid
VGPU=$DEBUGFS/vgpu
TOPOLOGY=/sys/class/kfd/kfd/topology/nodes
W=/tmp/test.$$
mkdir -p "$W"
started=
named=
# How many times slower a debug kernel is.
: "${SLOW:=1}"
: "${SEED:=1}"
# Limits of time are multiplied by this: SLOW, and how busy the host is.
: "${PACE:=$SLOW}"

fail() {
	echo "FAIL: $*"
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

step() {
	read -r _now _ < /proc/uptime
	echo "-- [$_now] $*"
}

# For a failed test's log: the file that was looked at last, what the others end with,
# and the state of the guest.
show_state() {
	for f in "$named" "$W"/*; do
		[ -f "$f" ] && [ -s "$f" ] || continue
		_lines=6
		[ "$f" != "$named" ] || _lines=30
		echo "== ${f##*/}" && tail -n $_lines "$f"
	done
	sh /t/state.sh
}

cleanup() {
	case $? in
	0|77) ;;
	*) show_state ;;
	esac
	for p in $started; do
		kill -9 "$p" 2>/dev/null
	done
}
trap cleanup EXIT

# wait_for SECONDS COMMAND...: polls until it succeeds; fails after the time. A poll costs
# an emulated CPU more than what is waited for, so the longer it takes, the fewer there are.
wait_for() {
	now_cs
	_start=$_cs
	_limit=$1
	_end=$((_start + $1 * 100 * PACE))
	shift
	until "$@"; do
		now_cs
		[ "$_cs" -lt "$_end" ] || not_within "$@"
		case $(((_cs - _start) / 50)) in
		0) sleep 0.03 ;;
		[1-3]) sleep 0.1 ;;
		*) sleep 0.25 ;;
		esac
	done
}

# The function once more, to show what it sees.
not_within() {
	for _a; do
		[ ! -f "$_a" ] || named=$_a
	done
	(set -x; "$@") > "$W/last-look" 2>&1
	fail "not within $_limit s: $*"
}

# Hundredths of a second since boot: in $_cs, which costs no process, or printed.
now_cs() {
	read -r _up _ < /proc/uptime
	_cs=${_up%.*}${_up#*.}
}

uptime_cs() {
	now_cs
	echo "$_cs"
}

# A zombie is not alive.
alive() {
	{ read -r _ _ _state _ < "/proc/$1/stat"; } 2>/dev/null && [ "$_state" != Z ]
}

gone() {
	! alive "$1"
}

# children PID: their PIDs
children() {
	awk -v p="$1" '$1 == "PPid:" && $2 == p { split(FILENAME, f, "/"); print f[3] }' \
		/proc/[0-9]*/status 2> /dev/null
}

# The driver frees a process a little after its end.
no_kfd_process() {
	[ -z "$(ls /sys/class/kfd/kfd/proc)" ]
}

# --- vgpu-load ---------------------------------------------------------------

# start LABEL ARGS...: a GPU process; its pid is then "$(pid LABEL)". $PROGRAM: as
# another name of vgpu-load.
#
# Where a process is started that writes to a file, the file is emptied before: its last
# content is there until the new process has opened it.
start() {
	_label=$1
	shift
	: > "$W/$_label.out"
	"${PROGRAM:-vgpu-load}" "$@" > "$W/$_label.out" 2> "$W/$_label.err" &
	eval "pid_$_label=$!"
	started="$started $!"
	wait_for 40 started_or_dead "$_label"
	alive "$(pid "$_label")" || is_ready "$_label" ||
		fail "${PROGRAM:-vgpu-load} $* did not start: $(cat "$W/$_label.err")"
}

is_ready() {
	grep -q '^ready ' "$W/$1.out"
}

started_or_dead() {
	is_ready "$1" || gone "$(pid "$1")"
}

pid() {
	eval "echo \$pid_$1"
}

# progress LABEL FIELD: a value of the last progress line.
progress() {
	awk -v field="$2" '/^t / { line = $0 }
		END { n = split(line, w); for (i = 1; i < n; i++) if (w[i] == field) print w[i + 1] }' \
		"$W/$1.out"
}

lines() {
	grep -c '^t ' "$W/$1.out"
}

more_lines() {
	[ "$(lines "$1")" -ge "$2" ]
}

# Waits for N more progress lines, one each 0.1 s: what they say happened after this
# call.
next_lines() {
	wait_for 30 more_lines "$1" $(($(lines "$1") + $2))
}

# count LABEL: packets completed, as of now. The first line that comes may have
# been on its way already.
count() {
	next_lines "$1" 2
	progress "$1" completed
}

expect_progress() {
	_c0=$(count "$1")
	next_lines "$1" 3
	_c1=$(progress "$1" completed)
	[ "$_c1" -gt "$_c0" ] || fail "$1 makes no progress ($_c0, then $_c1)"
}

expect_no_progress() {
	_c0=$(count "$1")
	next_lines "$1" 3
	_c1=$(progress "$1" completed)
	[ "$_c1" -eq "$_c0" ] || fail "$1 makes progress while suspended ($_c0, then $_c1)"
}

# queue_count LABEL QID: packets that this queue completed (needs --per-queue).
queue_count() {
	awk -v qid="$2" '/^t / { line = $0 }
		END { n = split(line, w); for (i = 1; i <= n; i++) if (split(w[i], p, ":") == 2 &&
			p[1] == qid) print p[2] }' "$W/$1.out"
}

# stop LABEL: ends it as a user would; each packet must have run exactly once.
stop() {
	kill -TERM "$(pid "$1")"
	expect_good_end "$1"
}

expect_good_end() {
	wait "$(pid "$1")"
	_status=$?
	grep '^done ' "$W/$1.out"
	[ $_status -eq 0 ] || fail "vgpu-load ($1) ended with $_status: $(cat "$W/$1.err")"
	[ "$(result "$1" submitted)" = "$(result "$1" completed)" ] ||
		fail "$1: completed and submitted differ"
	[ "$(result "$1" completed)" -gt 0 ] || fail "$1: no packet at all"
}

# result LABEL FIELD: a value of the last line.
result() {
	awk -v field="$2" '/^done / { for (i = 2; i < NF; i++) if ($i == field) print $(i + 1) }' \
		"$W/$1.out"
}

# --- the view ----------------------------------------------------------------

# view PID COLUMN [QID]: a column by its name, for all queues or one.
view() {
	awk -v column="$2" -v qid="${3:--1}" '
		NR == 1 { next }
		NR == 2 { for (i = 2; i <= NF; i++) if ($i == column) c = i - 1; next }
		qid < 0 || $1 == qid { print $c }' "$VIEW/$1/queues"
}

# view_is PID COLUMN VALUE [QID]: it has queues, and the column is VALUE in all.
view_is() {
	awk -v column="$2" -v want="$3" -v qid="${4:--1}" '
		NR == 2 { for (i = 2; i <= NF; i++) if ($i == column) c = i - 1 }
		NR > 2 && (qid < 0 || $1 == qid) { n++; if ($c "" != want) bad = 1 }
		END { exit !n || bad }' "$VIEW/$1/queues" 2>/dev/null
}

expect_view() {
	view_is "$@" ||
		fail "view of $1: $2 is '$(view "$1" "$2" "$4" 2>&1 | sort -u)', not '$3'"
}

in_view() {
	[ -d "$VIEW/$1" ]
}

not_in_view() {
	! in_view "$1"
}

# No debug session has suspended it. "-": this driver has none.
not_suspended() {
	view_is "$1" suspended 0 || view_is "$1" suspended -
}

# Fully on the GPU: no debug session has suspended it ("-": this driver has none), every
# slot is held.
running() {
	awk 'NR == 2 { for (i = 2; i <= NF; i++) c[$i] = i - 1 }
		NR > 2 && ($c["suspended"] == 1 || $c["active"] != $c["slots"]) { bad = 1 }
		END { exit NR < 3 || bad }' "$VIEW/$1/queues" 2>/dev/null
}

# By a debug session, or paused where the driver has none.
expect_suspended() {
	if has_debug_trap; then
		expect_view "$1" suspended 1
	else
		expect_view "$1" evicted 1
	fi
	expect_view "$1" active 0
}

# --- gpreempt-ctl ------------------------------------------------------------

# ends_with STATUS SECONDS FILE COMMAND...: its output is then in the file.
ends_with() {
	_want=$1 _limit=$2 _file=$3
	named=$_file
	shift 3
	timeout $((_limit * PACE)) "$@" > "$_file" 2>&1
	_got=$?
	sed 's/^/   /' "$_file"
	[ $_got -eq "$_want" ] || fail "$* ended with $_got, not $_want"
}

# ctl STATUS ARGS...: runs it; its output is then in $W/ctl.
ctl() {
	_status=$1
	shift
	ends_with "$_status" 60 "$W/ctl" gpreempt-ctl "$@"
}

# lab STATUS ARGS...: the same with gpreempt-lab.
lab() {
	_status=$1
	shift
	ends_with "$_status" 60 "$W/ctl" gpreempt-lab "$@"
}

# says REGEX: the last of these printed that.
says() {
	grep -Eqi -e "$1" "$W/ctl" || fail "it did not say '$1'"
}

# A refusal is at least a sentence and a next step, not an errno alone.
says_what_to_do() {
	[ "$(wc -w < "$W/ctl")" -ge 8 ] || fail "no sentence with a next step"
	says "$1"
}

hold() {
	ctl 0 suspend "$@"
	if has_debug_trap; then
		says "^suspended $1: .*verified: yes"
	else
		says "^paused $1: .*verified: yes"
	fi
	expect_suspended "$1"
}

release_target() {
	ctl 0 resume "$1"
	says "^resumed $1: "
	wait_for 15 running "$1"
}

holder_of() {
	gpreempt-ctl status | awk -v pid="$1" '$1 == pid { print $2 }'
}

guardian_of() {
	gpreempt-ctl status | awk -v pid="$1" '$1 == pid { print $3 }'
}

# A status that fails says nothing of it.
nothing_held() {
	gpreempt-ctl status > "$W/status" && ! grep -Eq '^[0-9]+[[:space:]]' "$W/status"
}

# --- the virtual GPU ---------------------------------------------------------

# counter GPU NAME: of one virtual GPU. Of one that is not there, words with which
# neither a test nor arithmetic works; an empty word would count as 0.
counter() {
	awk -v name="$2" '$1 == name { print $2; seen = 1 }
		END { if (!seen) print "no counter", name }' "$VGPU/$1/counters"
}

not_traced() {
	grep -q 'TracerPid:[[:space:]]*0' "/proc/$1/status"
}

# switch GPU NAME VALUE
switch() {
	[ -w "$VGPU/$1/$2" ] || fail "GPU $1 has no switch $2"
	echo "$3" > "$VGPU/$1/$2" || fail "cannot write $3 to $2"
}

# busy_ms GPU PID: how long packets of a process have run on it; 0 only for one that
# is a GPU process.
busy_ms() {
	[ -d "/sys/class/kfd/kfd/proc/$2" ] && [ -r "$VGPU/$1/busy" ] || {
		echo "no GPU process $2"
		return
	}
	awk -v pid="$2" '$1 == pid { printf "%d", $2 / 1e6; seen = 1 }
		END { if (!seen) print 0 }' "$VGPU/$1/busy"
}

# Unloads gpreempt.ko. A file of the view that is open keeps it, and guard, a monitor or a
# program that has just ended has one open now and then.
unload() {
	wait_for 10 try_unload
}

try_unload() {
	rmmod gpreempt 2> /dev/null
}

# only_without FEATURE WHY: gpreempt.ko has not got this feature on this driver, or the
# test is skipped. The module is not loaded when this returns.
only_without() {
	insmod /lib/modules/gpreempt.ko || fail "gpreempt.ko does not load"
	! grep -qx "feature_$1 on" "$DEBUGFS/gpreempt/version" || skip "$2"
	unload
}

# Numbers of the KFD nodes that are GPUs.
gpu_nodes() {
	for _n in "$TOPOLOGY"/*; do
		[ "$(cat "$_n/gpu_id")" != 0 ] && echo "${_n##*/}"
	done | sort -n
}

# property NODE NAME
property() {
	awk -v name="$2" '$1 == name { print $2 }' "$TOPOLOGY/$1/properties"
}

# Has the driver debug sessions? HSA_CAP_TRAP_DEBUG_SUPPORT of the first GPU. Cases that
# run on others, too, have a line "# driver: any".
has_debug_trap() {
	[ $(($(property "$(gpu_nodes | head -n 1)" capability) & 0x8000)) -ne 0 ]
}

# between VALUE MIN MAX WHAT
between() {
	[ "$1" -ge "$2" ] && [ "$1" -le "$3" ] || fail "$4: $1 is not between $2 and $3"
}

# Register reads of all eight GPUs since they were made.
reads() {
	_t=0
	for _g in 0 1 2 3 4 5 6 7; do
		_t=$((_t + $(counter $_g reg_reads)))
	done
	echo $_t
}

# reads_of FILE: what reading it once costs in registers
reads_of() {
	_before=$(reads)
	cat "$1" > /dev/null
	echo $(($(reads) - _before))
}

# draw N: $drawn is a number below N, and $seed decides which.
draw() {
	seed=$(((seed * 1103515245 + 12345) & 0x7fffffff))
	drawn=$((seed / 65536 % $1))
}
