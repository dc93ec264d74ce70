# SPDX-License-Identifier: GPL-2.0-only
# decode on four XCCs: the driver prints four MQDs of an SDMA queue that follows a
# compute queue. The further ones are other queues', here of the other process.
# vgpu: gpus=1 xccs=4
# timeout: 60
. /t/lib.sh

start a --queues 1 --sdma 1 --packet 1ms
a=$(pid a)
start b --queues 1 --sdma 4 --packet 1ms
b=$(pid b)
# One compute queue more in each: the driver prints the newest queue first.
more() {
	[ "$(view "$1" qid | wc -l)" -eq "$2" ]
}
kill -USR2 "$a" "$b"
wait_for 20 more "$a" 3
wait_for 20 more "$b" 6

step "the driver prints more MQDs than there are"
cat "$DEBUGFS/kfd/mqds" > "$W/mqds"
dumps=$(awk '/queue on device/ { sdma = /SDMA/ } sdma && /^ *00000000:/ { n++ } END { print n }' "$W/mqds")
echo "$dumps dumps of 5 SDMA queues"
[ "$dumps" -gt 5 ] || fail "the driver prints one MQD of each SDMA queue: this case shows nothing"

step "each SDMA slot is its own process's"
lab 0 decode --json
says '"adds_up": true'
tr -d ' \n' < "$W/ctl" > "$W/flat"
# places PID: "ENGINE RLC" of the slots that decode gives to a process.
places() {
	sed 's/.*"sdma_slots"://; s/"run_list".*//' "$W/flat" | grep -o '"engine":[0-9]*,"rlc":[0-9]*,"active":true,"pid":'"$1," |
		sed 's/[^0-9]*\([0-9]*\)[^0-9]*\([0-9]*\).*/\1 \2/' | sort | xargs
}
# Of the view: it asks the driver's structures, not its text.
seen() {
	paste -d ' ' $(for c in engine rlc; do
		view "$1" $c > "$W/$1.$c"
		echo "$W/$1.$c"
	done) | grep -v -- - | sort | xargs
}
for p in $a $b; do
	echo "$p: $(places "$p") in the text, $(seen "$p") in the view"
	[ -n "$(seen "$p")" ] && [ "$(places "$p")" = "$(seen "$p")" ] || fail "SDMA slots of $p differ"
done
[ "$(grep -o '"type":"sdma","priority":[a-z0-9]*,"slots_active":1,"slots_expected":1,' "$W/flat" | wc -l)" -eq 5 ] ||
	fail "an SDMA queue is in more than one slot, or in none"

stop a
stop b
