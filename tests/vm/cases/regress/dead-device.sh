# SPDX-License-Identifier: GPL-2.0-only
# A GPU that does not answer: its registers read as all ones, or as 0 because the
# driver accesses it no more. Slots are unknown then, never empty, so that no
# suspend is called verified.
# vgpu: gpus=2
# timeout: 120
. /t/steps.sh

T=$DEBUGFS/gpreempt
start a --gpus 0 --queues 2 --sdma 1 --packet 1ms
start b --gpus 1 --packet 1ms
p=$(pid a)
wait_for 15 running "$p"
wait_for 15 running "$(pid b)"

# lost: what every file says of a and of GPU 0
lost() {
	expect_view "$p" hardware lost
	expect_view "$p" active -
	expect_view "$p" rptr -
	[ "$(awk 'NR > 2 { print $9, $11 }' "$VIEW/$p/hqds" | sort -u)" = "- lost" ] ||
		fail "hqds does not say why"
	[ "$(awk 'NR == 3 { print $8, $9, $11 }' "$T/nodes")" = "lost - -" ] ||
		fail "nodes says '$(awk 'NR == 3' "$T/nodes")'"
	[ "$(awk -v p="$p" '$1 == p { print $10 }' "$T/processes")" = - ] || fail "processes"
	expect_view "$(pid b)" hardware read
	expect_view "$(pid b)" active 4
}

for how in dead no_access; do
	step "$how: queues that are in their slots"
	switch 0 $how 1
	lost
	switch 0 $how 0
	wait_for 15 running "$p"
	expect_view "$p" hardware read
done

# A search made 576 reads, 11.5 s of them here, and then found that the device does not answer.
step "each read waits 20 ms for an answer: every file that there is has at most 10 of them"
start c --queues 2 --sdma 1 --packet 1ms
wait_for 15 running "$(pid c)"
gpu=$(view "$(pid c)" gpu_id | head -n 1)
switch 0 slow 20
switch 0 dead 1
files=0 words=0
for f in "$T"/* "$T/pid/$(pid c)"/*; do
	[ -f "$f" ] || continue
	files=$((files + 1))
	unread=$(awk '$1 == "unread_lost" { print $2 }' "$T/stats")
	reads=$(counter 0 reg_reads)
	cs=$(uptime_cs)
	cat "$f" > "$W/slow" || fail "$f cannot be read"
	cs=$(($(uptime_cs) - cs))
	reads=$(($(counter 0 reg_reads) - reads))
	echo "${f##*/}: $reads register reads in $((cs * 10)) ms"
	between "$reads" 0 10 "register reads of $f"
	between "$cs" 0 30 "hundredths of a second of $f"
	# Whatever has the columns: no line of the GPU may say that it was read.
	awk -v gpu="$gpu" -v pid="$(pid c)" '
		$1 == "#" { for (i = 2; i <= NF; i++) at[$i] = i - 1; next }
		NR == 1 || "gpu_id" in at && $at["gpu_id"] != gpu { next }
		!("gpu_id" in at) && $1 != pid { next }
		{ lines++ }
		"hardware" in at && $at["hardware"] != "lost" { bad = 1 }
		"active" in at && $at["active"] != "-" { bad = 1 }
		"waves" in at && $at["waves"] != "-" { bad = 1 }
		END { exit bad || "hardware" in at && !lines }' "$W/slow" ||
		fail "$f says of a GPU that is lost: $(cat "$W/slow")"
	awk '$1 == "#" { for (i = 2; i <= NF; i++) if ($i == "hardware") found = 1 }
		END { exit !found }' "$W/slow" || continue
	words=$((words + 1))
	[ "$(awk '$1 == "unread_lost" { print $2 }' "$T/stats")" -gt "$unread" ] ||
		fail "stats does not count what $f says"
done
[ "$files" -ge 8 ] && [ "$words" -ge 5 ] || fail "only $files files, $words of them with the word"
switch 0 slow 0
switch 0 dead 0
stop c

# A driver that resets queues looks at SDMA's slots after each suspend. They seem to be busy
# in a GPU whose registers are all ones: it resets the GPU.
resets() {
	[ $how = dead ] && grep -qx 'feature_resets on' "$T/version"
}

was_reset() {
	[ "$(counter 0 gpu_resets)" -gt 0 ]
}

ended=
for how in no_access dead; do
	step "$how: queues that the driver says are suspended"
	switch 0 keep_slot 1
	switch 0 $how 1
	timeout $((60 * PACE)) gpreempt-ctl suspend "$p" > "$W/ctl" 2>&1
	status=$?
	echo "status $status: $(cat "$W/ctl")"
	if resets; then
		[ $status -ne 0 ] || fail "a suspend of a GPU that is reset was a success"
		says 'could not activate|reset'
		wait_for 10 was_reset
		switch 0 $how 0
		switch 0 keep_slot 0
		end_time a kill -9 "$p"
		expect_nothing_left "$p"
		ended=yes
		continue
	fi
	says "verified: not checked"
	lost
	switch 0 $how 0
	expect_view "$p" state suspended,stuck 0
	switch 0 keep_slot 0
	wait_for 5 view_is "$p" active 0 0
	ctl 0 resume "$p"
	wait_for 15 running "$p"
done
[ "$(awk '$1 == "unread_lost" { print $2 }' "$T/stats")" -gt 0 ] || fail "stats does not count it"
# The driver takes all processes off all GPUs for a reset, and lets none of them go on.
if [ -z "$ended" ]; then
	stop a
	stop b
fi
