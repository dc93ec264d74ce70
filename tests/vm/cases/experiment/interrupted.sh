# SPDX-License-Identifier: GPL-2.0-only
# experiment: one at a time in a directory; Ctrl-C ends the models and says how to
# go on; its JSON is JSON alone. snapshot: a full disk and one that is read-only.
# timeout: 120
. /t/lib.sh

e=$W/e
begun() {
	[ -s "$e/a-1/during/info" ]
}

lab 2 experiment --a "true
true"
says "of one line"

step "two in one directory, and Ctrl-C"
# The model is a child of its shell: that one's end alone would not end it.
gpreempt-lab experiment --runs 2 -o "$e" --a "[ -e $W/go ] && exec vgpu-load --queues 2 --packet 1ms --duration 1500ms; vgpu-load --queues 1 --packet 1ms; true" \
	> "$W/x.out" 2> "$W/x.err" &
x=$!
wait_for 40 begun
lab 7 experiment --resume "$e"
says "at work there"
kill -INT $x
wait $x
[ $? -eq 130 ] || fail "it ended with $?, not 130"
grep -q "^next: gpreempt-lab experiment --resume $e goes on" "$W/x.err" || fail "it does not say how to go on"
wait_for 5 no_kfd_process
[ ! -e "$e/a-1/result" ] || fail "a run that was interrupted counts"
lab 1 experiment --report-only "$e"
says "no complete run"

step "gone on with"
touch "$W/go"
gpreempt-lab experiment --resume "$e" --json > "$W/json" 2> "$W/x.err" || fail "--resume ended with $?"
[ "$(head -c 1 "$W/json")" = "{" ] || fail "more than JSON on stdout"
[ "$(tail -n 1 "$W/json")" = "}" ] || fail "JSON has no end"
grep -q '"same_ids": true' "$W/json" || fail "the ids differ"
[ "$(wc -l < "$W/x.err")" -eq 2 ] || fail "not one line for each run on stderr"

step "a series that is ended has its last snapshot"
gpreempt-lab snapshot -o "$W/series" --every 400ms --count 100 > "$W/x.out" 2>&1 &
x=$!
second() {
	[ -e "$W/series/002-sample/kernel-log" ]
}
wait_for 20 second
kill -INT $x
wait $x || fail "the series ended with $?"
last=$(ls "$W/series" | tail -n 1)
case $last in
00[3-9]-final) ;;
*) fail "the last one is $last" ;;
esac
[ "$(ls "$W/series" | wc -l)" -eq $((1${last%%-*} - 999)) ] || fail "numbers are missing"

step "where it cannot be written"
mkdir "$W/small"
mount -t tmpfs -o size=64k none "$W/small" || fail "no tmpfs"
start a --queues 2 --packet 1ms
lab 1 snapshot -o "$W/small/s"
says "small/s.*No space left"
lab 1 experiment --runs 1 -o "$W/small/e" --a "exec vgpu-load --queues 1 --packet 1ms --duration 800ms"
says "No space left"
mount -o remount,ro "$W/small"
for c in snapshot "experiment --a true"; do
	lab 1 $c -o "$W/small/r"
	says "Read-only file system"
done
umount "$W/small"

step "self, without the module"
stop a
unload
gpreempt-lab self -- vgpu-load --queues 2 --packet 1ms --duration 1200ms > "$W/self.out" 2> "$W/self.err" ||
	fail "self ended with $?"
cat "$W/self.err"
grep -q 'has 2 queues' "$W/self.err" || fail "self did not fall back to sysfs"
