# SPDX-License-Identifier: GPL-2.0-only
# snapshot and diff: before, while one, while two processes run; a series; with
# and without the module's view; processes with equal ids share nothing.
# tier: gate
# timeout: 120
# driver: any
. /t/lib.sh

s=$W/snap
lab 0 snapshot -o "$s" --tag 1-before
says "1-before: 0 processes, 0 queues, 0 of [1-9][0-9]* CP slots active .0%."
lab 1 snapshot -o "$s" --tag 1-before
says "exists"
start a --queues 2 --packet 1ms
a=$(pid a)
lab 0 snapshot -o "$s" --tag 2-one
start b --queues 3 --packet 1ms
b=$(pid b)
lab 0 snapshot -o "$s" --tag 3-two
for f in info mqds hqds rls sysfs ps processes nodes kernel-log "queues-$a" "queues-$b"; do
	[ -s "$s/3-two/$f" ] || fail "the snapshot has no $f"
done
[ "$(stat -c %a "$s" "$s/3-two" | xargs)" = "700 700" ] || fail "others may read the snapshot"
[ -z "$(find "$s/3-two" -type f ! -perm 600)" ] || fail "others may read files of the snapshot"
grep -q "^kernel $(uname -r)$" "$s/3-two/info" || fail "info does not name the kernel"
grep -q '^simulated 1$' "$s/3-two/info" || fail "info does not say that the GPU is simulated"

step "what is common"
lab 0 diff "$s/2-one" "$s/3-two" --pid "$a"
says "^queue ids: 2 common, 0 only in A, 0 only in B, overlap 100%"
lab 0 diff "$s/2-one" "$s/3-two"
says "^queue ids: 2 common, 0 only in A, 3 only in B, overlap 40%"
lab 0 diff "$s/3-two" "$s/3-two" --pid-a "$a" --pid-b "$b"
says "^queue ids: 2 common, 0 only in A, 1 only in B, overlap 67%"
says "^CP slots: 0 common, "
says "share no queue"
lab 0 diff --json "$s/3-two" "$s/3-two" --pid-a "$a" --pid-b "$b"
says '"shared_queues": false'
lab 0 diff "$s/1-before" "$s/2-one"
says "^queue ids: 0 common, 0 only in A, 2 only in B, overlap 0%"
lab 0 diff "$s/1-before" "$s/2-one" --pid "$a"
says "not in $s/1-before: it has no queue there"
says "^queue ids: 0 common, 0 only in A, 2 only in B, overlap 0%: not consistent"
lab 5 diff "$s/1-before" "$s/2-one" --pid 1
says "not in either of them"
lab 2 diff "$s/1-before"

step "a snapshot is a text as any other"
lab 0 decode --pid "$b" "$s/3-two"
says "^3 compute queues"

step "a series"
lab 0 decode "$s"
says "^1-before.0.0.0.0"
says "^3-two.2.5"
says "$b:0,$b:1,$b:2"
stop b
lab 0 snapshot -o "$W/series" --every 300ms --count 3
[ "$(ls "$W/series" | xargs)" = "000-baseline 001-sample 002-sample 003-sample 004-final" ] ||
	fail "not a baseline, three and a final one"
lab 0 decode --pid "$a" "$W/series"
says "^Queues of 3 samples: mean 2.0, least 2, most 2: stable"
says "^Queue ids of all samples: the same"
lab 0 decode --json --pid "$a" "$W/series"
[ "$(grep -c '"queues": 2' "$W/ctl")" -eq 5 ] || fail "not 2 queues in all five"

step "a series while a command runs"
lab 3 snapshot -o "$W/model" --every 300ms --tag busy -- sh -c \
	"vgpu-load --queues 3 --packet 1ms --duration 2s; exit 3"
grep -q '^ready pid' "$W/model/command.out" || fail "what the command printed is not kept"
# A sample that is taken while the program ends can have half of it: 6 then.
gpreempt-lab decode "$W/model" > "$W/ctl" 2>&1
status=$?
[ $status -eq 0 ] || [ $status -eq 6 ] || fail "decode ended with $status: $(cat "$W/ctl")"
says "^000-baseline.1.2"
says "^[0-9]*-busy.2.5"
says "^[0-9]*-final.1.2"

step "without the module, ids are sysfs's"
unload
lab 0 snapshot -o "$W/no-module"
[ ! -e "$W/no-module/queues-$a" ] || fail "a view without the module"
lab 0 diff "$s/2-one" "$W/no-module" --pid "$a"
says "^queue ids: 2 common, 0 only in A, 0 only in B, overlap 100%"
stop a
