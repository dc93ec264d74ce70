# SPDX-License-Identifier: GPL-2.0-only
# The wave counts that the driver reads from the SPI's registers are those of the packet
# that executes at that moment: none of an idle, waiting or suspended process. A share of
# the looks at them is a share of the time.
# timeout: 60
# tier: gate
. /t/lib.sh

# waves PID [COLUMN]: of all its queues, as the virtual GPU knows them. 5: now; 6: on the
# first XCC of its partition
waves() {
	awk -v pid="$1" -v c="${2:-5}" '$1 == pid { n += $c } END { print n + 0 }' "$VGPU/0/waves"
}

# usage PID COLUMN: of busy, in ms. 2: packets; 3: with waves; 4: times waves
usage() {
	awk -v pid="$1" -v c="$2" '$1 == pid { printf "%d", $c / 1e6 }' "$VGPU/0/busy"
}

# What the driver computes: the waves of the first XCC, times XCCs, in CUs of 32 waves
cus() {
	cat "/sys/class/kfd/kfd/proc/$1"/stats_*/cu_occupancy
}

# Packets that have begun and ended
packets() {
	awk '$1 == "dispatched" || $1 == "retired" { print $2 }' "$VGPU/0/counters"
}

# waves_are PID WAVES FIRST CUS. The driver reads one register after the other: a look in which a
# packet ends or begins is of two times
waves_are() {
	_packets=
	until [ "$_packets" = "$(packets)" ]; do
		_packets=$(packets)
		_got="$(waves "$1") $(waves "$1" 6) $(cus "$1")"
	done
	[ "$_got" = "$2 $3 $4" ] || fail "waves, on the first XCC, CUs: $_got, not $2 $3 $4"
}

step "idle: a process with queues and no packet"
start idle --queues 2 --every 1000s --delay 1000s
waves_are "$(pid idle)" 0 0 0

step "64 workgroups of four waves: 16 on each XCC, four on each shader engine"
# Between two packets no wave is in flight, and neither of two queues takes its turn within one.
switch 0 quantum_ns 1000000000
start a --queues 2 --packet 500ms --workgroups 64
a=$(pid a)
wait_for 15 running "$a"
waves_are "$a" 256 64 8
waves_are "$(pid idle)" 0 0 0

step "suspended"
hold "$a"
waves_are "$a" 0 0 0
was=$(usage "$a" 3)
sleep 0.5
[ "$(usage "$a" 3)" -eq "$was" ] || fail "waves while it is suspended"
release_target "$a"
waves_are "$a" 256 64 8
stop a
switch 0 quantum_ns 1000000

# numbers PID: which number each XCC has in the MQDs of its one queue, as the driver wrote
# them (compute_current_logic_xcc_id, dword 39); 0 has the first workgroup
numbers() {
	awk -v pid="$1" '
		/^Process / { ours = $2 == pid }
		ours && $1 == "00000080:" { printf "%s ", substr($9, 8) }
		' "$DEBUGFS/kfd/mqds"
}

step "one work-item is one wave, on the XCC that the MQDs of its queue say"
first=0
for n in 1 2 3 4; do
	start b --packet 500ms
	wait_for 15 running "$(pid b)"
	xccs=$(numbers "$(pid b)")
	echo "XCCs are numbered $xccs"
	is_first=0
	[ "${xccs%% *}" -ne 0 ] || is_first=1
	first=$((first + is_first))
	# The driver looks at the first XCC alone, and takes what it sees for one on each.
	waves_are "$(pid b)" 1 $is_first $is_first
	awk -v pid="$(pid b)" -v xccs="$xccs" '$1 == pid {
		split(xccs, number, " ")
		for (i = 1; i <= 4; i++)
			bad += (number[i] == 0) != ($(4 + i) > 0)
		exit bad > 0
	}' "$VGPU/0/busy" || fail "the account is of other XCCs: $(cat "$VGPU/0/busy")"
	stop b
done
[ $first -eq 1 ] || fail "$first of 4 queues began on the first XCC"

step "more than the GPU holds: all 80 CUs"
start all --packet 500ms --workgroups 1000000
wait_for 15 running "$(pid all)"
waves_are "$(pid all)" 2560 640 80
awk -v pid="$(pid all)" '$1 == pid && ($3 == 0 || $4 != $3 * 2560) { exit 1 }' "$VGPU/0/busy" ||
	fail "busy: $(cat "$VGPU/0/busy")"
stop all

step "two that share it: the share of looks is the share of time"
start c --packet 20ms --workgroups 1000000
start d --packet 2ms --workgroups 64
c=$(pid c) d=$(pid d)
wait_for 15 running "$c"
wait_for 15 running "$d"
c0=$(usage "$c" 3) d0=$(usage "$d" 3) t0=$(uptime_cs)
looks=0 of_c=0 of_d=0 seed=$SEED
occupancy_c=$(echo "/sys/class/kfd/kfd/proc/$c"/stats_*/cu_occupancy)
occupancy_d=$(echo "/sys/class/kfd/kfd/proc/$d"/stats_*/cu_occupancy)
while [ $looks -lt 100 ]; do
	draw 900
	sleep "0.0$((drawn + 100))"
	looks=$((looks + 1))
	read -r n < "$occupancy_c"
	[ "$n" -eq 0 ] || of_c=$((of_c + 1))
	read -r n < "$occupancy_d"
	[ "$n" -eq 0 ] || of_d=$((of_d + 1))
done
span=$((($(uptime_cs) - t0) * 10))
c1=$(usage "$c" 3) d1=$(usage "$d" 3)
echo "$looks looks in $span ms: $of_c and $of_d; ms with waves: $((c1 - c0)) and $((d1 - d0))"
# Of 100 looks at what is so half of the time, one in 16,000 times 20 more or less see it.
between $of_c $(((c1 - c0) * 100 / span - 20)) $(((c1 - c0) * 100 / span + 20)) "looks at c"
between $of_d $(((d1 - d0) * 100 / span - 20)) $(((d1 - d0) * 100 / span + 20)) "looks at d"
stop c
stop d
kill -TERM "$(pid idle)"
wait "$(pid idle)"
