# SPDX-License-Identifier: GPL-2.0-only
# preempt with a command of its own in each hold, and however that ends.
# timeout: 120
. /t/lib.sh

start a --queues 2 --packet 1ms
p=$(pid a)

step "it runs while the target is off the GPU, once a cycle"
ctl 0 preempt "$p" --count 3 --interval 10ms -- \
	sh -c 'awk "NR > 2 { print \$11, \$5 }" "$1"; sleep 0.1' sh "$VIEW/$p/queues"
[ "$(grep -cx '1 0' "$W/ctl")" -eq 6 ] || fail "the queues were not suspended meanwhile"
says '^cycles 3 succeeded 3'
says '^online_us n=3 min=[1-9][0-9]{5}'
wait_for 15 running "$p"

step "it fails: the run ends after that cycle"
ctl 1 preempt "$p" --count 3 --interval 10ms -- sh -c 'exit 3'
says 'the online command ended with status 3 in cycle 1'
says '^cycles 1 succeeded 1'
ctl 1 preempt "$p" --count 3 --interval 10ms -- sh -c 'kill -9 $$'
says 'ended with status 137 in cycle 1'
ctl 1 preempt "$p" --count 3 -- /no/such/command
says 'cannot run /no/such/command: No such file'
says 'is it installed, and in PATH'
wait_for 15 running "$p"

step "it has the signals of a command, and ends with us"
cat > "$W/online" <<-'END'
	echo $$ > "$1"
	exec sleep 77
END
setsid sh -c 'trap - INT QUIT TERM; exec gpreempt-ctl preempt "$0" --count 2 -- sh "$1" "$2"' \
	"$p" "$W/online" "$W/online.pid" > "$W/preempt" 2>&1 &
c=$!
started="$started $c"
wait_for 15 test -s "$W/online.pid"
s=$(cat "$W/online.pid")
expect_suspended "$p"
grep -q '^SigBlk:[[:space:]]*0*$' "/proc/$s/status" || fail "the command has signals blocked"
# Job control and the alarm are what preempt changes for itself.
ignored=$(sed -n 's/^SigIgn:[[:space:]]*//p' "/proc/$s/status")
[ $((0x$ignored & 0x382000)) -eq 0 ] || fail "the command ignores signals: $ignored"
kill -TERM "$c"
wait_for 15 running "$p"
wait_for 15 gone "$c"
wait_for 5 gone "$s"
grep -q 'interrupted in cycle 1' "$W/preempt" || fail "$(cat "$W/preempt")"
rm "$W/online.pid"
setsid gpreempt-ctl preempt "$p" --count 2 -- sh "$W/online" "$W/online.pid" > "$W/preempt" 2>&1 &
c=$!
wait_for 15 test -s "$W/online.pid"
kill -KILL "$c"
wait_for 15 running "$p"
wait_for 15 gone "$(cat "$W/online.pid")"

step "the target ends meanwhile: so does the run, with what was measured"
timeout $((60 * PACE)) gpreempt-ctl preempt "$p" --count 50 --hold 20ms --interval 20ms --samples "$W/samples" \
	> "$W/preempt" 2>&1 &
c=$!
wait_for 15 grep -q '^3 ' "$W/samples"
kill -KILL "$p"
wait "$c"
status=$?
[ $status -eq 5 ] || fail "ended with $status: $(cat "$W/preempt")"
grep -q "process $p has ended" "$W/preempt" || fail "$(cat "$W/preempt")"
grep -Eq '^suspend_ioctl_us n=[1-9]' "$W/preempt" || fail "no figures"
