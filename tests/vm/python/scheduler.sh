# SPDX-License-Identifier: GPL-2.0-only
# docs/examples/scheduler.py: online work takes the offline process off the GPU,
# until it is done or its slice is over.
# timeout: 120
. /t/lib.sh

scheduler() {
	PYTHONHOME=/files/python PYTHONPATH=/files LD_LIBRARY_PATH=/files:/files/python/lib \
		/files/python/bin/python3 -S /files/scheduler.py "$@"
}

start a --queues 4 --packet 1ms --per-queue
pid=$(pid a)
# The online work is a look at the offline process.
echo "grep -q . $VIEW/$pid/queues && awk 'NR > 2 { print \"suspended\", \$11, \"active\", \$5 }' $VIEW/$pid/queues" > "$W/look"
step "suspended while online work is done"
scheduler "$pid" 5 sh "$W/look" > "$W/out" || fail "the scheduler ended with $?"
cat "$W/out"
[ "$(grep -c '^request .*: 4 of 4 queues suspended' "$W/out")" -eq 5 ] || fail "not five requests"
[ "$(grep -c '^suspended 1 active 0$' "$W/out")" -eq 20 ] || fail "online work saw it on the GPU"
wait_for 15 running "$pid"
expect_progress a

step "runs again when the slice is over"
echo "sleep 2; . $W/look" > "$W/late"
scheduler --slice 0.5 "$pid" 1 sh "$W/late" > "$W/out" || fail "the scheduler ended with $?"
cat "$W/out"
[ "$(grep -c '^suspended 0 ' "$W/out")" -eq 4 ] || fail "still suspended after its slice"

step "a process that is killed is no hang"
: > "$W/out"
(wait_for 30 grep -q '^request 3' "$W/out"; kill -9 "$pid") &
scheduler "$pid" 50 sleep 0.2 > "$W/out" 2> "$W/err" && fail "it did not notice"
cat "$W/err"
grep -q "^scheduler.py: process $pid has ended" "$W/err" || fail "no message of it"

step "a refusal is a sentence"
scheduler $$ 1 true > "$W/out" 2>&1 && fail "it took a process without GPU"
cat "$W/out"
grep -q '^scheduler.py: .* ' "$W/out" || fail "no sentence"
