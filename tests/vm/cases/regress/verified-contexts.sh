# SPDX-License-Identifier: GPL-2.0-only
# A suspend of a process with several KFD contexts: the driver's debugger suspends
# the queues of the first one only. It is never verified, neither while the queue of
# another one is in no slot nor while it runs. (The virtual GPU numbers contexts in a
# field that doctored BTF calls context_id.)
# tier: gate
# vgpu: gpus=1
# gpreempt: no
# timeout: 120
. /t/lib.sh

module=/lib/modules/gpreempt.ko

# rows CONTEXT: number, suspended and slots of its queues, each followed by a comma
rows() {
	awk -v context="$1" 'NR == 2 { for (i = 2; i <= NF; i++) c[$i] = i - 1 }
		NR > 2 && $c["context"] == context {
			printf "%s %s %s,", $c["qid"], $c["suspended"], $c["active"]
		}' "$VIEW/$a/queues"
}

rows_are() {
	[ "$(rows "$1")" = "$2" ]
}

# verdict WORDS: what a suspend of a says; its own queues are off
verdict() {
	timeout $((60 * PACE)) gpreempt-ctl suspend "$a" > "$W/ctl" 2>&1
	echo "status $?: $(cat "$W/ctl")"
	cat "$VIEW/$a/queues"
	says "verified: $1"
	rows_are - "0 1 0,1 1 0," || fail "the first context has $(rows -)"
	ctl 0 resume "$a"
}

# second PID SLOTS: it is one more context of a's, with its queue in so many slots
second() {
	contexts=$((contexts + 1))
	echo "$a $1" > "$VGPU/same_pid" || fail "the virtual GPU does not do it"
	wait_for 15 not_in_view "$1"
	wait_for 15 rows_are - "0 0 4,1 0 4,"
	wait_for 15 rows_are $contexts "0 0 $2,"
}

only_without contexts \
	"this driver has contexts itself, and no field of another kind is taken for one"
start a --queues 2 --packet 5ms
PROGRAM=vgpu-load-update start b --queues 1 --packet 5ms --rate 50
start c --queues 1 --packet 5ms --rate 50
a=$(pid a) b=$(pid b)
contexts=0

step "one context"
insmod $module || fail "it does not load"
wait_for 15 running "$a"
hold "$a"
release_target "$a"
kill -WINCH "$b"
wait_for 15 view_is "$b" active 0
unload

btf-doctor graft $module kfd_process last_restore_timestamp context_id u16 ||
	fail "it does not load"
wait_for 15 in_view "$a"
step "two, and the queue of the second one is in no slot"
second "$b" 0
verdict "not checked"

step "three, and the queue of the third one runs"
second "$(pid c)" 4
verdict no
