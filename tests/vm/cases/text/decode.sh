# SPDX-License-Identifier: GPL-2.0-only
# decode: the driver's text of two processes on two GPUs, against join.awk and
# the module's view; suspended queues; from files, a pipe, cut and garbled.
# vgpu: gpus=2 xccs=4
# timeout: 120
. /t/lib.sh

# flat: the last JSON on one line, without spaces.
flat() {
	tr -d ' \n' < "$W/ctl"
}

# check_is QUEUES EXPECTED ACTIVE WITHOUT-OWNER
check_is() {
	flat | grep -q "\"check\":{\"queues\":$1,\"slots_expected\":$2,\"slots_active\":$3,\"slots_without_owner\":$4,\"adds_up\":[a-z]*,\"by_xcc\":\[{" ||
		fail "check is not $*: $(flat | grep -o '"check":{[^[]*')"
}

start a --gpus 0 --queues 3 --sdma 1 --packet 1ms
start b --gpus 1 --queues 2 --packet 1ms
a=$(pid a)
b=$(pid b)

step "of the system"
lab 0 decode
says "^5 compute queues"
says "^in all[[:space:]]+20[[:space:]]+20[[:space:]]+0[[:space:]]+0$"
lab 0 decode --json
check_is 5 20 20 0
owners=$(flat | sed 's/"sdma_slots".*//' | grep -o '"active":true,"pid":[0-9]*' | sort | uniq -c |
	awk '{ sub(/.*:/, "", $2); print $2 ":" $1 }' | sort | xargs)
[ "$owners" = "$(printf '%s\n' "$a:12" "$b:8" | sort | xargs)" ] || fail "slots are owned by $owners"
# Ids, from the module, by the address of the ring.
for p in $a $b; do
	lab 0 decode --json --pid "$p"
	[ "$(flat | grep -o '"queue_id":[0-9]*,"kfd_gpu_id":"[^"]*","type":"[a-z]*","priority"' | grep -o 'queue_id":[0-9]*' |
		cut -d: -f2 | sort | xargs)" = "$(view "$p" qid | sort | xargs)" ] ||
		fail "the ids of $p are not those of the view"
done
lab 0 decode --json --pid "$a"
# A driver that has a PASID for each process and device prints none in sysfs. Of AMD's own
# the queue of SDMA, whose MQD is in no text, has no known owner then.
queues=$(flat | grep -o '"packet":"map-queues","pasid":"[^"]*","pid":'"$a" | wc -l)
least=4
[ "$(cat "/sys/class/kfd/kfd/proc/$a/pasid")" != 0 ] || least=3
between "$queues" $least 4 "queues of $a in the run list"
lab 5 decode --pid 1
says "not in this text"

step "the view beside the text"
lab 0 decode --pid "$a" --view
lab 0 decode --pid "$a" --view --json
flat | grep -Eq '"view":[{]"compared":([1-9][0-9]+),"agree":\1,"differs":null[}]' || fail "$(flat | grep -o '"view".*')"
lab 2 decode --view
lab 2 decode --view --pid "$a" "$W"

step "as the join that we make in awk"
cat "$DEBUGFS/kfd/mqds" > "$W/mqds"
cat "$DEBUGFS/kfd/hqds" > "$W/hqds"
awk -f /t/join.awk "$W/mqds" "$W/hqds" | tail -n 1 | grep -q '^queues 5 slots 20 active 20$' ||
	fail "join.awk says something else"
lab 0 decode --json "$W/mqds" "$W/hqds"
check_is 5 20 20 0
lab 0 decode --json "$W/hqds"
check_is null null 20 null
lab 6 decode "$W/mqds" "$W/mqds" "$W/hqds"
says "more than one moment"
cat "$W/mqds" "$W/hqds" | gpreempt-lab decode - > "$W/piped" || fail "decode - ended with $?"
grep -q '^in all[[:space:]]*20[[:space:]]*20[[:space:]]' "$W/piped" || fail "decode of a pipe differs"

step "suspended queues have MQDs, but no slots"
hold "$a"
lab 0 decode --json
check_is 5 20 8 0
says '"slots_active": 0'
lab 0 decode --json --pid "$a"
flat | grep -q 'map-queues' && fail "suspended queues are in the run list"
release_target "$a"

step "cut and garbled text is reported"
head -c 30000 "$W/mqds" > "$W/cut"
printf 'Compute qu\377eue on\n' >> "$W/cut"
lab 6 decode "$W/cut"
says "problems in the text"
says "cut.*not a line that the driver prints"
: > "$W/nothing"
lab 0 decode --json "$W/nothing"
flat | grep -q '"queues":\[\],"slots":\[\]' || fail "an empty file gives something"
lab 1 decode "$W/not-there"
says "No such file"

stop a
stop b
