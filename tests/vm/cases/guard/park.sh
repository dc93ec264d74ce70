# SPDX-License-Identifier: GPL-2.0-only
# An offline process that is idle for long is parked: off the GPU, and back at its next packet, each
# of which runs once. One that cannot be watched is left alone, and one that works is never parked.
# timeout: 240
. /t/lib.sh
. /t/guard.sh

parks() { said_times '"event":"suspend".*"reason":"park"'; }
parked() { view_is "$(pid "$1")" active 0; }

start a --queues 2 --packet 1ms --rate 4
start b --queues 1 --packet 1ms --rate 3
start busy --queues 1 --packet 5ms
cat > "$W/conf" <<-EOF
	policy park=60ms
	tenant $(pid a)
	tenant $(pid b)
	tenant $(pid busy)
EOF

step "two that have work now and then are parked in between, and lose no packet"
guard --config "$W/conf" --json
wait_for 60 more_times '"event":"resume".*"reason":"park"' 20
expect_progress a
# Its packets come more rarely than three lines of its output.
c=$(count b)
goes_on() { [ "$(count b)" -gt "$c" ]; }
wait_for 10 goes_on
said "\"event\":\"suspend\",.*\"pid\":$(pid busy)," && fail "parked one that works"

step "one that rests stays parked, and its next packet runs"
kill -STOP "$(pid a)"
wait_for 20 parked a
n=$(parks)
sleep 2
parked a || fail "it came back without work"
kill -CONT "$(pid a)"
expect_progress a

step "without park all run again"
sed -i 's/park=60ms/slice=50ms/' "$W/conf"
kill -HUP "$g"
wait_for 10 said '"event":"config".*is in use'
wait_for 15 running "$(pid a)"
wait_for 15 running "$(pid b)"
n=$(parks)
sleep 1
[ "$(parks)" -eq "$n" ] || fail "parked without park"
end_guard
echo "parked $n times"
stop a
stop b
stop busy
