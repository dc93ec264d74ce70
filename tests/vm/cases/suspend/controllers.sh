# SPDX-License-Identifier: GPL-2.0-only
# Several controllers at once on one target: one wins, the others get an answer;
# a controller that is killed leaves no queue suspended unnoticed.
# race: several controllers at once, some of them killed
# timeout: 120
. /t/steps.sh

start a --queues 2 --packet 1ms
p=$(pid a)

# all COMMAND...: four of it at once; $W/s.N has the exit status of each.
all() {
	jobs=
	for _n in 1 2 3 4; do
		(timeout $((30 * PACE)) gpreempt-ctl "$@" > "$W/c.$_n" 2>&1; echo $? > "$W/s.$_n") &
		jobs="$jobs $!"
	done
	# shellcheck disable=SC2086
	wait $jobs
	cat "$W"/s.? | sort | uniq -c | awk '{ printf "   %s times status %s\n", $1, $2 }'
}

how_many() {
	cat "$W"/s.? | grep -c "^$1\$"
}

for _ in 1 2 3; do
	step "four suspends: one makes the holder, the others join it"
	all suspend "$p"
	[ "$(how_many 0)" -eq 4 ] || fail "$(cat "$W"/c.?)"
	[ "$(grep -l already "$W"/c.? | wc -l)" -eq 3 ] || fail "$(cat "$W"/c.?)"
	expect_suspended "$p"
	[ "$(holders | wc -l)" -eq 2 ] || fail "not one holder: $(holders)"
	step "four resumes: one releases it"
	all resume "$p"
	[ "$(how_many 0)" -eq 4 ] || fail "$(cat "$W"/c.?)"
	expect_free a
done

step "four preempts: one wins, the others report that it is busy"
all preempt "$p" --count 20 --hold 20ms --interval 20ms
[ "$(how_many 0)" -eq 1 ] && [ "$(how_many 7)" -eq 3 ] || fail "$(cat "$W"/c.?)"
expect_free a

# It holds the target and has reported that, or nothing of it is left.
settled() {
	held=$(holder_of "$p")
	if [ -n "$held" ]; then
		grep -q '^suspended' "$W/ctl"
	else
		[ -z "$(pidof gpreempt-ctl gpreempt-holder gpreempt-hold)" ]
	fi
}

step "suspend killed at some moment: it holds and has reported it, or all run"
for ms in 0 5 10 20 30 40 50 70 100 150; do
	gpreempt-ctl suspend "$p" > "$W/ctl" 2>&1 &
	c=$!
	usleep "${ms}000"
	kill -9 $c 2> /dev/null
	wait $c
	status=$?
	wait_for 10 settled
	echo "   after $ms ms: status $status, holder ${held:-none}"
	[ $status -ne 0 ] || [ -n "$held" ] || fail "it said that it holds"
	timeout $((30 * PACE)) gpreempt-ctl resume "$p" > /dev/null 2>&1 || fail "resume ended with $?"
	expect_free a
done

step "a reader that goes away is no end: the target stays held"
mkfifo "$W/pipe"
true < "$W/pipe" &
exec 8> "$W/pipe"
wait $!
gpreempt-ctl suspend "$p" >&8 8>&-
exec 8>&-
expect_suspended "$p"
ctl 0 resume "$p"
expect_free a
stop a
