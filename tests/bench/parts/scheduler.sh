# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Online before offline: latency of online work and throughput of both, alone,
# unprotected and guarded. docs/measuring.md says what the figures are.
# vgpu: gpus=8 poll_ns=5000000
# clock: counted
# timeout: 2400
. /t/lib.sh
. /t/bench.sh

n=${BENCH_ARRIVALS:-3000}
few=$((n / 5))
# A p99 of fewer would be their maximum, and a p99.9 of fewer than 1,000.
some=$((few > 200 ? few : 200))
thousand=$((n > 1000 ? n : 1000))

# The other kind of online work, beside requests: fine COUNT
fine() { online on 0 --burst 1 --every "$(us 20000)" --count "$1"; }

# Online work three quarters of the time: busy COUNT
busy() { online on 0 --burst 12 --every "$(us 16000)" --count $((12 * $1)); }

# --- runs --------------------------------------------------------------------

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
	_of=$1
	set -- "$_of" "$n" --linger "$(us "$2")" --max-hold "$(us 1000000)"
	save 100
	alone "$_of" "$n"
	unprotected "$_of" "$n"
	guarded "${_of}_guarded" "$@"
	[ "$_of" != requests ] || watched "${_of}_watched" "$@"
	save 2000
	guarded "${_of}_guarded_2ms" "$@"
}

# With the default settings: what it is owed does not stop online for long.
most() {
	save 100
	alone busy "$thousand"
	guarded busy_guarded busy "$thousand"
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
	requests "$some"
	wait_for 30 knows $((_n + 1))
	done_by on
	end_guard
	stop off > /dev/null
	figures "residents_$_n" 1 --online "$W/on.samples" --offline "$W/off.samples"
	guard_figures "residents_$_n"
	while [ $_idle -gt 1 ]; do
		_idle=$((_idle - 1))
		# It has submitted nothing, which stop() takes for a failure.
		kill -KILL "$(pid "idle$_idle")"
		wait_for 10 gone "$(pid "idle$_idle")"
	done
}

many() {
	save 100
	alone requests "$some"
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
	most
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
		print "busy_p999_ratio", v["busy_guarded_p999_us"] / v["busy_alone_p999_us"]
		for (n = 1; n <= 64; n = n == 1 ? 16 : 4 * n) {
			print "residents_" n "_p50_ratio", v["residents_" n "_p50_us"] / v["residents_alone_p50_us"]
			print "residents_" n "_p99_ratio", v["residents_" n "_p99_us"] / v["residents_alone_p99_us"]
		}
		print "arrival_to_ioctl_us", v["poll_busy_arrival_to_ioctl_p50_us"]
	}' "$W/all"
