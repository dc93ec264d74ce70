# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# What the parts of the bench share that run guard: offline and online programs, figures
# of both, and how long the GPU's times are. Besides lib.sh.

# The only published time of the suspend ioctl, without what it saves.
IOCTL_US=450
LOOK=150	# us of GPU time between two looks of guard

# Guard knows them by these names.
for name in train serve; do
	ln -s "$(command -v vgpu-load)" "/tmp/$name"
done
tenants="--online comm:serve --offline comm:train"

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

# 20 packets of 1 ms at once, ten times a second: requests COUNT
requests() { online on 0 --burst 20 --every "$(us 100000)" --count $((20 * $1)); }

done_by() {
	wait "$(pid "$1")" || fail "vgpu-load ($1): $(cat "$W/$1.err" "$W/$1.out")"
}

knows() {
	[ "$(grep -cE '"process [0-9]+ is (online|offline)"' "$W/guard")" -eq "$1" ]
}

# guard TARGETS ARGS...: it knows that many processes when this returns; $tenants has the words
guard() {
	_targets=$1
	shift
	: > "$W/guard"
	# With --samples it would watch the slots, which takes the one CPU.
	# shellcheck disable=SC2086
	gpreempt-ctl guard $tenants --json "$@" > "$W/guard" 2>&1 &
	guard=$!
	started="$started $guard"
	wait_for 30 knows "$_targets"
}

end_guard() {
	kill -TERM "$guard"
	wait "$guard" || fail "guard ended with $?: $(cat "$W/guard")"
}

# --- runs --------------------------------------------------------------------

# figures NAME GPUS FILES...; requests have $STEPS after their burst
figures() {
	_name=$1 _gpus=$2
	shift 2
	sched-bench run "$_name" "$(dilation)" "$_gpus" "${STEPS:-0}" "$@" || fail "sched-bench run"
}

# guard_figures NAME
guard_figures() {
	sed -n '/"event":"suspend"/s/.*"ioctl_us":\([0-9.]*\).*"arrival_to_ioctl_us":\([0-9.]*\).*/\1 \2/p' \
		"$W/guard" | awk '{ printf "%d\t%d\n", 1000 * $2, 1000 * ($1 + $2) }' > "$W/switches"
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

# guarded NAME KIND COUNT ARGS...
guarded() {
	_as=$1 _kind=$2 _count=$3
	shift 3
	offline off 0
	"$_kind" "$_count"
	guard 2 --poll "$(us $LOOK)" "$@"
	done_by on
	end_guard
	stop off > /dev/null
	figures "$_as" 1 --online "$W/on.samples" --offline "$W/off.samples"
	guard_figures "$_as"
}

# --- dilation ----------------------------------------------------------------

# key FILE KEY
key() { awk -v key="$2" '$1 == key { print $2 }' "$1"; }

# How long the ioctl takes under this load when nothing is saved: bare COUNT
bare() {
	save 0
	(guarded bare requests "$1" --linger "$(us 2000)" --max-hold "$(us 1000000)") > "$W/bare" || fail "$(cat "$W/bare")"
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
