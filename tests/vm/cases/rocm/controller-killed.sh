# SPDX-License-Identifier: GPL-2.0-only
# The controller is killed at random points: the program runs on, exactly, and
# can be held again; also when it is about to end.
# race: a controller is killed at any moment
# timeout: 120
. /t/rocm.sh

hsa_start a 13 --queues 3 --packet 500us --copy 65536
p=$(pid a)
seed=$SEED

for _ in 1 2 3 4 5 6; do
	draw 120
	at=$drawn
	step "preempt, killed after $at ms"
	gpreempt-ctl preempt "$p" --count 1000 --hold 3ms --interval 3ms > "$W/preempt" 2>&1 &
	preempt=$!
	usleep "${at}000"
	kill -9 $preempt
	wait $preempt
	wait_for 5 running "$p"
done
expect_progress a

for who in holder_of guardian_of; do
	step "$who, killed while all is suspended"
	hold "$p"
	kill -9 "$($who "$p")"
	wait_for 5 running "$p"
	wait_for 3 nothing_held
	expect_progress a
done

stop a
[ "$(result a differ)" = 0 ] || fail "copied data is wrong"

step "while the program ends"
for at in 5 40; do
	hsa_start b 13 --queues 2 --packet 500us
	expect_progress b
	: > "$W/samples"
	gpreempt-ctl preempt "$(pid b)" --count 1000 --hold 3ms --interval 3ms --samples "$W/samples" \
		> "$W/preempt" 2>&1 &
	preempt=$!
	wait_for 15 grep -q '^3 ' "$W/samples"
	kill -TERM "$(pid b)"
	usleep ${at}000
	kill -9 $preempt
	expect_good_end b
done
wait_for 3 no_kfd_process
