# SPDX-License-Identifier: GPL-2.0-only
# A program decides whose turn it is: b's, though guard's own order has a first. When it is killed,
# another one is started; while it hangs, guard's order decides.
# timeout: 180
. /t/lib.sh
. /t/guard.sh

policy() { cat "$W/policy.pid"; }
is_new() { [ "$(policy)" != "$1" ]; }

# first LABEL LABEL: the first one has nearly all turns
first() {
	_one=$(count "$1") _other=$(count "$2")
	sleep 2
	_one=$(($(count "$1") - _one)) _other=$(($(count "$2") - _other))
	echo "packets: $1 $_one, $2 $_other"
	[ "$_one" -gt $((4 * _other)) ] || fail "$1 does not go first"
}

start a --queues 1 --packet 2ms
start b --queues 1 --packet 2ms
cat > "$W/conf" <<-END
	policy priority slots=1 slice=20ms
	tenant $(pid a) weight=300
	tenant $(pid b) weight=100
END
cat > "$W/program" <<-END
	echo \$\$ > "$W/policy.pid"
	while read -r q; do
		n=\$((n + 1))
		echo "{\"question\":\$n,\"order\":[\"comm:none\",\"$(pid b)\",\"$(pid a)\"]}"
	done
END

step "its order, in which there is a tenant that guard has not"
guard --config "$W/conf" --policy "exec sh $W/program" --json
wait_for 30 more_times '"event":"suspend".*"reason":"turn"' 1
p=$(policy)
grep -q 'CapEff:.0*$' "/proc/$p/status" || fail "it has capabilities of root"
first b a

step "killed: that is reported, and another one decides"
kill -9 "$p"
wait_for 20 said '"event":"policy".*has ended'
wait_for 20 is_new "$p"
sleep 1
first b a

step "hangs: guard's order decides, until it answers again"
p=$(policy)
kill -STOP "$p"
wait_for 20 said '"event":"policy".*did not answer in time'
first a b
kill -CONT "$p"
sleep 1
first b a
[ "$(policy)" = "$p" ] || fail "it was killed"

step "the end: it is gone, and all run"
p=$(policy)
end_guard
gone "$p" || fail "the program is left"
wait_for 15 running "$(pid a)"
wait_for 15 running "$(pid b)"
expect_progress a
stop a
stop b
