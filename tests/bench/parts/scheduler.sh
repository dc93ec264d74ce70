# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Online before offline: latency of online work and throughput of both, alone,
# unprotected and guarded. docs/measuring.md says what the figures are.
# vgpu: gpus=8 poll_ns=5000000
# clock: counted
# timeout: 2400
. /t/lib.sh

n=${BENCH_ARRIVALS:-3000}
few=$((n / 5))
# The only published time of the suspend ioctl, without what it saves.
IOCTL_US=450
LOOK=200	# us of GPU time between two looks of guard

# Guard knows them by these names.
for name in train serve; do
	ln -s "$(command -v vgpu-load)" "/tmp/$name"
done

# D is the dilation in thousandths: us of the clock in a ms of GPU time.
D=1000
us() { echo "$(($1 * D / 1000))us"; }
dilation() { awk "BEGIN { print $D / 1000 }"; }

# gpu_times NAME US: a time of all GPUs
gpu_times() {
	for _gpu in 0 1 2 3 4 5 6 7; do
		switch "$_gpu" "$1" $(($2 * D))
	done
}

save() {
	gpu_times save_ns "$1"
	gpu_times restore_ns "$1"
}

# --- programs ----------------------------------------------------------------

# Packets of 20 ms, flat out. offline LABEL GPU
offline() {
	PROGRAM=/tmp/train start "$1" --gpus "$2" --packet "$(us 20000)" --report 0 --kick \
		--samples "$W/$1.samples"
}

# Its first request comes in two seconds. online LABEL GPU ARGS...
online() {
	_label=$1 _gpu=$2
	shift 2
	PROGRAM=/tmp/serve start "$_label" --gpus "$_gpu" --packet "$(us 1000)" --report 0 --kick \
		--samples "$W/$_label.samples" --delay 2 --ring 4096 --drain 60 "$@"
}

# The two kinds of online work: KIND COUNT
requests() { online on 0 --burst 20 --every "$(us 100000)" --count $((20 * $1)); }
fine() { online on 0 --burst 1 --every "$(us 20000)" --count "$1"; }

done_by() {
	wait "$(pid "$1")" || fail "vgpu-load ($1): $(cat "$W/$1.err" "$W/$1.out")"
}

knows() {
	[ "$(grep -cE '"process [0-9]+ is (online|offline)"' "$W/guard")" -eq "$1" ]
}

# guard TARGETS ARGS...: it knows that many processes when this returns
guard() {
	_targets=$1
	shift
	: > "$W/guard"
	# With --samples it would watch the slots, which takes the one CPU.
	gpreempt-ctl guard --online comm:serve --offline comm:train --json "$@" \
		> "$W/guard" 2>&1 &
	guard=$!
	started="$started $guard"
	wait_for 30 knows "$_targets"
}

end_guard() {
	kill -TERM "$guard"
	wait "$guard" || fail "guard ended with $?: $(cat "$W/guard")"
}

# --- runs --------------------------------------------------------------------

# figures NAME GPUS FILES...
figures() {
	_name=$1
	shift
	sched-bench run "$_name" "$(dilation)" "$@" || fail "sched-bench run"
}

# guard_figures NAME
guard_figures() {
	sed -n '/"event":"suspend"/s/.*"ioctl_us":\([0-9.]*\).*"arrival_to_ioctl_us":\([0-9.]*\).*/\2 \1/p' \
		"$W/guard" | awk '{ printf "%d\t%d\n", 1000 * $1, 1000 * ($1 + $2) }' > "$W/switches"
	sched-bench guard "$1" "$(dilation)" "$W/switches" || fail "sched-bench guard"
	sed -n 's/.*"poll_cpu_ms_per_s":\([0-9.]*\).*/\1/p' "$W/guard" | tail -n 1 |
		awk -v name="$1" '{ printf "%s_poll_cpu_ms_per_s %.1f\n", name, $1 }'
}

# alone KIND COUNT
alone() {
	"$1" "$2"
	done_by on
	figures "$1_alone" 1 --online "$W/on.samples"
}

# unprotected KIND COUNT
unprotected() {
	offline off 0
	"$1" "$2"
	done_by on
	stop off > /dev/null
	figures "$1_unprotected" 1 --online "$W/on.samples" --offline "$W/off.samples"
}

# guarded NAME KIND COUNT LINGER-US ARGS...
guarded() {
	_as=$1 _kind=$2 _count=$3 _linger=$4
	shift 4
	offline off 0
	"$_kind" "$_count"
	guard 2 --poll "$(us $LOOK)" --linger "$(us "$_linger")" --max-hold "$(us 1000000)" "$@"
	done_by on
	end_guard
	stop off > /dev/null
	figures "$_as" 1 --online "$W/on.samples" --offline "$W/off.samples"
	guard_figures "$_as"
}

# The same as the first of these beside a live reader at 2 Hz. watched NAME ARGS...
watched() {
	gpreempt-ctl top --batch --json --delay "$(us 500000)" --looks "$(us 500000)" \
		> "$W/top" 2>&1 &
	_reader=$!
	started="$started $_reader"
	guarded "$@"
	kill -TERM "$_reader"
	wait "$_reader" || fail "top ended with $?: $(tail -n 3 "$W/top")"
	echo "$1_refreshes $(wc -l < "$W/top")"
}

# All of one kind of online work: kind KIND LINGER-US
kind() {
	save 100
	alone "$1" "$n"
	unprotected "$1" "$n"
	guarded "$1_guarded" "$1" "$n" "$2"
	[ "$1" != requests ] || watched "$1_watched" "$1" "$n" "$2"
	save 2000
	guarded "$1_guarded_2ms" "$1" "$n" "$2"
}

# --- offline processes without work ------------------------------------------

# resident LABEL: a process with a queue and without work
resident() {
	PROGRAM=/tmp/train start "$1" --gpus 0 --every 1000s --delay 100000 --report 0
}

# residents N: one of them works
residents() {
	_n=$1 _idle=1
	while [ $_idle -lt "$_n" ]; do
		resident "idle$_idle"
		_idle=$((_idle + 1))
	done
	offline off 0
	guard "$_n" --poll "$(us $LOOK)" --linger "$(us 2000)" --max-hold "$(us 1000000)"
	# Those without work were not looked at for long enough before.
	sleep 5
	requests "$few"
	wait_for 30 knows $((_n + 1))
	done_by on
	end_guard
	stop off > /dev/null
	figures "residents_$_n" 1 --online "$W/on.samples" --offline "$W/off.samples"
	while [ $_idle -gt 1 ]; do
		_idle=$((_idle - 1))
		# It has submitted nothing, which stop() takes for a failure.
		kill -KILL "$(pid "idle$_idle")"
		wait_for 10 gone "$(pid "idle$_idle")"
	done
}

many() {
	save 100
	alone requests "$few"
	residents 1
	residents 16
	residents 64
}

# --- eight GPUs, one job, two services ---------------------------------------

job() {
	for _i in 0 1 2 3 4 5 6 7; do
		offline "job$_i" $_i
	done
}

end_job() {
	for _i in 0 1 2 3 4 5 6 7; do
		stop "job$_i" > /dev/null
	done
}

services() {
	online on0 0 --burst 20 --every "$(us 200000)" --count $((10 * few)) --seed 1
	online on1 4 --burst 20 --every "$(us 200000)" --count $((10 * few)) --seed 2
}

# services_done NAME FILES...
services_done() {
	_of=$1
	shift
	figures "$_of" 8 --online "$W/on0.samples" "$W/on1.samples" "$@"
}

eight_guarded() {
	job
	services
	guard 10 --gang --poll "$(us $LOOK)" --linger "$(us 2000)" --max-hold "$(us 1000000)"
	done_by on0
	done_by on1
	end_guard
	end_job
	services_done "$1" --offline "$W"/job?.samples
	guard_figures "$1"
}

eight() {
	save 100
	services
	done_by on0
	done_by on1
	services_done eight_alone
	job
	services
	done_by on0
	done_by on1
	end_job
	services_done eight_unprotected --offline "$W"/job?.samples
	eight_guarded eight_guarded
	save 2000
	eight_guarded eight_guarded_2ms
}

# --- dilation ----------------------------------------------------------------

# key FILE KEY
key() { awk -v key="$2" '$1 == key { print $2 }' "$1"; }

# How long the ioctl takes under this load when nothing is saved: bare COUNT
bare() {
	save 0
	(guarded bare requests "$1" 2000) > "$W/bare" || fail "$(cat "$W/bare")"
	_bare=$(key "$W/bare" bare_suspend_ioctl_p50_us)
	[ -n "$_bare" ] || fail "no suspend was measured"
}

# When the emulated CPU takes longer than IOCTL_US, GPU time is stretched; when it
# takes less, the simulated GPU's unmapping gets longer.
choose_dilation() {
	unmap=10
	gpu_times unmap_ns "$unmap"
	bare 100
	D=$(awk "BEGIN { d = $_bare / $IOCTL_US; print int(1000 * (d > 1 ? d : 1)) }")
	for _try in 1 2; do
		gpu_times unmap_ns "$unmap"
		bare 100
		unmap=$(awk "BEGIN { u = $unmap + $IOCTL_US - $_bare; print int(u > 0 ? u : 0) }")
	done
	gpu_times unmap_ns "$unmap"
	bare 100
	echo "dilation $(dilation)"
	echo "unmap_us $unmap"
	grep -E '^bare_(suspend_ioctl|late)_' "$W/bare"
}

# --- how fast it sees work, and what that costs ------------------------------

# A poller that spins would take the one emulated CPU from those that it waits for.
poller_yields() {
	for _task in "/proc/$guard"/task/*; do
		[ "$(cat "$_task/comm")" = guard-poller ] || continue
		sched-bench idle "${_task##*/}"
		return
	done
	return 1
}

# Undilated. poll NAME MODE
poll() {
	offline off 0
	requests "${BENCH_POLLS:-200}"
	guard 2 --poll "$2"
	case $2 in
	busy|adaptive) poller_yields || fail "no poller" ;;
	esac
	done_by on
	end_guard
	stop off > /dev/null
	guard_figures "poll_$1" | grep -v suspend_ioctl
}

polls() {
	_dilation=$D
	D=1000
	save 100
	poll busy busy
	poll adaptive adaptive
	poll 200us 200us
	poll 1ms 1ms
	D=$_dilation
}

# --- all of it, and the figures that others look for -------------------------

all() {
	kind requests 2000
	kind fine 0
	eight
	many > "$W/many" || { cat "$W/many"; return 1; }
	sed 's/^requests_alone/residents_alone/' "$W/many"
	polls
	echo complete
}

choose_dilation
all | tee "$W/all"
grep -q '^complete$' "$W/all" || exit 1
awk '{ v[$1] = $2 }
	END {
		print "online_p99_alone_us", v["requests_alone_p99_us"]
		print "online_p99_unprotected_us", v["requests_unprotected_p99_us"]
		print "online_p99_guarded_us", v["requests_guarded_p99_us"]
		print "online_p99_guarded_ratio", v["requests_guarded_p99_us"] / v["requests_alone_p99_us"]
		print "online_p99_watched_ratio", v["requests_watched_p99_us"] / v["requests_guarded_p99_us"]
		print "throughput_total_ratio", v["requests_guarded_total_share"] / v["requests_unprotected_total_share"]
		print "offline_share", v["requests_guarded_offline_share"]
		for (n = 1; n <= 64; n = n == 1 ? 16 : 4 * n) {
			print "residents_" n "_p50_ratio", v["residents_" n "_p50_us"] / v["residents_alone_p50_us"]
			print "residents_" n "_p99_ratio", v["residents_" n "_p99_us"] / v["residents_alone_p99_us"]
		}
		print "arrival_to_ioctl_us", v["poll_busy_arrival_to_ioctl_p50_us"]
	}' "$W/all"
