# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# make soak: for $1 seconds suspends and resumes at random, over targets that come
# and go, while targets, workers, guardians and commands are killed at
# random. At the end: no queue suspended or paused, no process left, and what was
# done, counted. HOW: debug, pause or mixed. KILLS: it ends after so many, too.
. /t/steps.sh

seconds=${1:-3600}
: "${HOW:=debug}"
: "${KILLS:=0}"
TARGETS=6
JOBS=8		# commands at once

# A number below $1.
random() {
	echo $(($(od -An -N2 -tu2 /dev/urandom) % $1))
}

count_up() {
	echo >> "$W/n.$1"
}

how_many() {
	if [ -e "$W/n.$1" ]; then wc -l < "$W/n.$1"; else echo 0; fi
}

# --- targets -------------------------------------------------------------------

# renew N: that target's PID is in $W/pid.N; it is started again when it has ended.
renew() {
	if [ -s "$W/pid.$1" ] && is_target "$(cat "$W/pid.$1")"; then
		return
	fi
	case $(random 4) in
	0) gpu-steps open init queue queue "threads 5" > /dev/null 2>&1 & ;;
	1) vgpu-load --gpus all --queues 2 --packet 500us --drain 0 \
		--duration "$(random 20)" > /dev/null 2>&1 & ;;
	2) vgpu-load --queues 3 --sdma 1 --packet 1ms --drain 0 > /dev/null 2>&1 & ;;
	3) vgpu-load --packet 200us --rate 500 --drain 0 --leave \
		--duration "$(random 10)" > /dev/null 2>&1 & ;;
	esac
	_new=$!
	echo "$_new" > "$W/pid.$1"
	started="$started $_new"
	count_up targets
	# Until then it is a shell, and would be taken for one that has ended.
	while alive "$_new" && ! is_target "$_new"; do
		usleep 10000
	done
}

# PIDs come around again.
is_target() {
	alive "$1" && { read -r _c < "/proc/$1/comm"; } 2> /dev/null || return 1
	[ "$_c" = vgpu-load ] || [ "$_c" = gpu-steps ]
}

target() {
	cat "$W/pid.$(random $TARGETS)"
}

# --- what is done to them ------------------------------------------------------

# Any end but these is a mistake: 0 done, 1 failed, 3 not fit, 5 gone, 6 in part,
# 7 busy. 124 is timeout's, and worse than any.
command_ended() {
	case $2 in
	0) count_up "$1" ;;
	1|3|5|6|7) count_up "$1.refused" ;;
	137) ;;
	*) echo "$1 ended with $2" >> "$W/wrong" ;;
	esac
}

run() {
	_name=$1
	shift
	timeout -s KILL 60 gpreempt-ctl "$@" > "$W/out.$_name.$$" 2>&1
	_status=$?
	# 137 is that of a command that was killed, or of one that hung.
	[ $_status -ne 137 ] || [ -e "$W/killed" ] || echo "$_name was never done" >> "$W/wrong"
	command_ended "$_name" $_status
}

# Of this time.
how() {
	case $HOW in
	mixed) [ "$(random 2)" -eq 0 ] && echo debug || echo pause ;;
	*) echo "$HOW" ;;
	esac
}

one_job() {
	set -- --how "$(how)"
	case $(random 11) in
	0|1|2) run suspend suspend "$(target)" "$@" ;;
	3) run lease suspend "$(target)" --for "$(($(random 1500) + 1))ms" "$@" ;;
	4) [ "$2" = pause ] || run some suspend "$(target)" --queues 0 "$@" ;;
	5) run several suspend "$(target)" "$(target)" "$@" ;;
	6|7) run resume resume "$(target)" ;;
	8) run preempt preempt "$(target)" --count 5 --hold 20ms --interval 20ms "$@" ;;
	9) run foreground suspend --foreground "$(target)" --for "$(random 900)ms" "$@" ;;
	10) [ "$HOW" = debug ] || run repair repair ;;
	esac
}

# Of processes of that name, one by chance.
one_called() {
	for _d in /proc/[0-9]*; do
		{ read -r _c < "$_d/comm"; } 2> /dev/null || continue
		[ "$_c" != "$1" ] || gone "${_d#/proc/}" || echo "${_d#/proc/}"
	done | awk -v seed="$(random 65536)" 'BEGIN { srand(seed) }
		rand() * ++n < 1 { p = $1 } END { print p }'
}

hit() {
	_victim=$1 _signal=$2 _what=$3
	case $_what in
	targets*) is_target "$_victim" || return 0 ;;
	esac
	[ -n "$_victim" ] || return 0
	kill "-$_signal" "$_victim" 2> /dev/null && count_up "$_what"
}

harm() {
	case $(random 10) in
	0|1) hit "$(target)" KILL "targets.killed" ;;
	2) hit "$(target)" TERM "targets.ended" ;;
	3) hit "$(one_called gpreempt-hold)" KILL "holders.killed" ;;
	4) hit "$(one_called gpreempt-pause)" KILL "guardians.killed" ;;
	5) hit "$(one_called gpreempt-hold)" KILL "holders.killed"
		hit "$(one_called gpreempt-pause)" KILL "guardians.killed" ;;
	6) hit "$(one_called gpreempt-hold)" STOP "holders.stopped" ;;
	7|8)
		: > "$W/killed"
		hit "$(one_called gpreempt-ctl)" KILL "commands.killed" ;;
	9) _t=$(target)
		hit "$_t" STOP "targets.stopped"
		usleep 100000
		hit "$_t" CONT "targets.continued" ;;
	esac
}

jobs_left() {
	_left=
	for _j in $running_jobs; do
		alive "$_j" && _left="$_left $_j"
	done
	running_jobs=$_left
	# shellcheck disable=SC2086
	set -- $running_jobs
	[ $# -lt $JOBS ]
}

round() {
	for _n in $(seq 0 $((TARGETS - 1))); do
		renew "$_n"
	done
	wait_for 120 jobs_left
	one_job &
	running_jobs="$running_jobs $!"
	[ "$(random 3)" -ne 0 ] || harm
	count_up rounds
}

# --- the end -------------------------------------------------------------------

# A holder that was stopped dies of its own switch, in a few seconds.
all_suspended() {
	for _f in "$VIEW"/*/queues; do
		awk '/^# / { for (i = 2; i <= NF; i++) if ($i == "suspended") c = i - 1 }
			/^[0-9]/ && $c == 1 { n++ } END { print n + 0 }' "$_f" 2> /dev/null
	done | awk '{ n += $1 } END { print n + 0 }'
}

nothing_suspended() {
	[ "$(all_suspended)" -eq 0 ]
}

# Processes of which a queue is paused.
paused() {
	for _f in "$VIEW"/*/queues; do
		_p=${_f%/queues}
		awk -v pid="${_p##*/}" '/^# / { for (i = 2; i <= NF; i++) if ($i == "state") c = i - 1 }
			/^[0-9]/ && $c ~ /paused/ { print pid; exit }' "$_f" 2> /dev/null
	done
}

nothing_paused() {
	[ -z "$(paused)" ]
}

# What is paused after a repair is what a suspend without a lease has left: status
# names each, as gpreempt's.
repair() {
	timeout $((60 * PACE)) gpreempt-ctl repair > "$W/repair" 2>&1 ||
		fail "repair: $(cat "$W/repair")"
	gpreempt-ctl status > "$W/status" || fail "status: $(cat "$W/status")"
	for _p in $(paused); do
		awk -v pid="$_p" '$1 == pid && !/[[:space:]]other/ { seen = 1 }
			END { exit !seen }' "$W/status" ||
			fail "process $_p is paused, and repair does not know it: $(cat "$W/repair")"
		count_up kept.by.repair
	done
}

settle() {
	for _j in $running_jobs; do
		wait "$_j"
	done
	# Holders and guardians of a pause that is over end in a moment.
	sleep 1
	repair
	# What may be held still is what a suspend without a lease has left.
	for _n in $(seq 0 $((TARGETS - 1))); do
		_p=$(cat "$W/pid.$_n")
		if is_target "$_p"; then
			kill -CONT "$_p"
			timeout $((60 * PACE)) gpreempt-ctl resume "$_p" > /dev/null 2>&1
		fi
	done
	wait_for 30 nothing_suspended
	wait_for 30 nothing_paused
	wait_for 30 no_holder
	nothing_held || fail "something is held: $(gpreempt-ctl status)"
	[ -z "$(ls /run/gpreempt)" ] || fail "left behind: $(ls /run/gpreempt)"
}

report() {
	for _f in "$W"/n.*; do
		printf '%-20s %s\n' "${_f##*/n.}" "$(wc -l < "$_f")"
	done
	printf '%-20s %s\n' kills "$(kills)"
	printf '%-20s %s\n' queues_left_suspended "$(all_suspended)"
	printf '%-20s %s\n' processes_left_paused "$(paused | wc -l)"
	printf '%-20s %s\n' holders_left "$(holders | wc -l)"
}

kills() {
	cat "$W"/n.*.killed 2> /dev/null | wc -l
}

enough() {
	[ "$(uptime_cs)" -ge $until_cs ] || { [ "$KILLS" -gt 0 ] && [ "$(kills)" -ge "$KILLS" ]; }
}

running_jobs=
until_cs=$(($(uptime_cs) + seconds * 100))
next=$((until_cs - seconds * 100 + 6000))
while ! enough; do
	round
	[ ! -s "$W/wrong" ] || fail "$(cat "$W/wrong")"
	if [ "$(uptime_cs)" -ge $next ]; then
		next=$((next + 6000))
		settle
		running_jobs=
		echo "soak: $(how_many rounds) rounds, nothing left suspended"
	fi
done
settle
for n in $(seq 0 $((TARGETS - 1))); do
	p=$(cat "$W/pid.$n")
	is_target "$p" && kill -9 "$p"
done
wait
wait_for 30 no_kfd_process
report
[ ! -s "$W/wrong" ] || fail "$(cat "$W/wrong")"
[ "$(how_many suspend)" -gt 0 ] && [ "$(how_many resume)" -gt 0 ] ||
	fail "hardly anything was done"
[ "$(how_many holders.killed)" -gt 0 ] || fail "no holder was killed"
dmesg | grep -E 'WARNING:|BUG:|Oops|general protection|hung task|blocked for more' &&
	fail "the kernel log is not clean"
echo "soak: passed"
