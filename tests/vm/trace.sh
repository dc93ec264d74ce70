# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2154
# What the tests of trace share; after lib.sh.

TRACING=/sys/kernel/tracing

# Events that are switched on make the kernel patch the scheduler's code, to record
# names. Emulated processors that run it meanwhile stumble over the breakpoint now
# and then (seen: "Oops: int3" in ttwu_do_activate). Instances inherit this.
echo 0 > $TRACING/options/record-cmd

# All that a trace could leave behind.
tracing_state() {
	(
		cd $TRACING || exit
		ls instances events
		for _f in dynamic_events kprobe_events current_tracer trace_clock tracing_on \
			set_event buffer_size_kb buffer_total_size_kb error_log trace_options; do
			echo "== $_f"
			cat $_f
		done
	)
}

tracing_unchanged() {
	tracing_state > "$W/after"
	[ -s "$W/before" ] || fail "the tracing directory was not looked at before"
	diff "$W/before" "$W/after" || fail "the tracing directory is not as it was"
}

traces() {
	ls $TRACING/instances | grep -c '^gpreempt_'
}

# The trace of that process records.
recording() {
	for _d in "$TRACING/instances/gpreempt_$1"_*; do
		[ "$(cat "$_d/events/${_d##*/}/enable" 2> /dev/null)" = 1 ] || return 1
	done
}

# trace_begin LABEL ARGS...: its output is in $W/LABEL.json, its end not awaited
trace_begin() {
	_label=$1
	shift
	gpreempt-lab trace "$@" > "$W/$_label.json" 2> "$W/$_label.notes" &
	eval "trace_$_label=$!"
	started="$started $!"
	wait_for 30 recording $!
}

trace_pid() {
	eval "echo \$trace_$1"
}

# trace_end LABEL STATUS: Ctrl-C, and what it ends with
trace_end() {
	kill -INT "$(trace_pid "$1")"
	wait "$(trace_pid "$1")"
	_got=$?
	cat "$W/$1.notes"
	[ $_got -eq "$2" ] || fail "trace ($1) ended with $_got, not $2"
}

# value LABEL KEY...
value() {
	_file=$W/$1.json
	shift
	json-value "$_file" "$@"
}

# phase_n LABEL OPERATION PHASE: how many samples its row has
phase_n() {
	awk -v operation="\"$2\"," -v phase="\"$3\"," '
		$1 == "\"operation\":" { o = $2 }
		$1 == "\"phase\":" { p = $2 }
		$1 == "\"n\":" && o == operation && p == phase { n = $2 + 0 }
		END { print n + 0 }' "$W/$1.json"
}

# In each operation of the list the parts come to the total, but for rounding.
sums_are_totals() {
	awk '
		match($1, /^"(lock|unmap|fence|map|copy|other)_us":/) && $2 !~ /null/ { sum += $2 }
		$1 == "\"total_us\":" {
			d = sum - $2
			if (d > 0.01 || d < -0.01) { print "parts " sum ", total " $2; bad = 1 }
			sum = 0
			n++
		}
		END { exit bad || !n }' "$W/$1.json" || fail "$1: parts and total differ"
}
