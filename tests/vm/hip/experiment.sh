# SPDX-License-Identifier: GPL-2.0-only
# The whole experiment on HIP programs, with their log: it counts the launches
# that the programs make, more of A than of B, and their hardware queues; kept
# runs give the same again.
# timeout: 400
. /t/rocm.sh

# model STREAMS LAUNCHES: packets of 2 ms, which is a second with all streams. It ends by itself.
model() {
	echo "exec env GPU_FORCE_BLIT_COPY_SIZE=0 LD_LIBRARY_PATH=/hip13" \
		"hip-load /files/vgpu-kernel-gfx942.co $1 2000 $2"
}

# The last JSON on one line.
flat() {
	tr -d ' \n' < "$W/ctl"
}

e=$W/e
# Each HIP program needs seconds for its start.
PACE=$((4 * PACE))
lab 0 experiment --amd-log 4 --runs 2 --concurrent 1 -o "$e" --a "$(model 3 300)" --b "$(model 1 400)"
grep -A 9 "^## ROCm's log" "$W/ctl"
# Three streams of 300 launches, and one of 400.
says '^\| dispatches \| 900 \| 400 \| 900 \| 400 \|$'
says '^\| run ms \| [1-9][0-9]* \| [1-9][0-9]* \| [1-9][0-9]* \| [1-9][0-9]* \|$'
grep -Eq '^\| a-1 \| [0-9]+ \| [0-9]+ \| [0-9a-f:,]+ \| [0-9]+ \| [0-9]+ \| 900 \| ' "$W/ctl" ||
	fail "run a-1 has other figures"
says "^Same number of queues every run: yes"
says "^Each queue in one slot of each XCC: yes"
says "^both-1: .* 0 slots in common"
for r in a-1 a-2 both-1; do
	[ "$(grep -c 'ShaderName :' "$e/$r/a.err")" -eq 900 ] || fail "$r/a.err is not its log"
done

# A queue of the hardware for each stream, and no more than the driver has of it.
awk -F ' *[|] *' '$2 == "a-1" || $2 == "b-1" {
	n++; least = $2 == "a-1" ? 3 : 1
	if ($9 < least || $9 > $4 || $10 < 1) bad = 1
} END { exit bad || n != 2 }' "$W/ctl" || fail "hardware queues are not those of streams and view"
hwq=$(awk -F ' *[|] *' '$2 == "hardware queues" { print $3, $4 }' "$W/ctl")

step "read again"
lab 0 experiment --report-only "$e" --json
for k in a_alone:900 a_with_b:900 b_alone:400 b_with_a:400; do
	flat | grep -Eq "\"${k%:*}\":\{\"dispatches\":${k#*:},\"hardware_queues\":(${hwq% *}|${hwq#* })," ||
		fail "$k: $(flat | grep -o '"amd_log".*')"
done
wait_for 3 no_kfd_process
