# SPDX-License-Identifier: GPL-2.0-only
# Where MES schedules, a parked process is none of its clients any more: it does not share out time
# to it. gfx 12, whose driver takes each queue that is suspended off with REMOVE_QUEUE.
# vgpu: profile=gfx1201
# timeout: 120
. /t/lib.sh
. /t/guard.sh

queues() { echo $(($(counter 0 mes_add) - $(counter 0 mes_remove))); }
alone() { [ "$(queues)" -eq 1 ]; }

start serve --queues 1 --packet 500us
before=$(queues)
[ "$before" -eq 1 ] || fail "$before queues of one process"
start a --queues 1 --packet 1ms --rate 4
start b --queues 1 --packet 1ms --rate 4
[ "$(queues)" -eq 3 ] || fail "$(queues) queues of three processes"
cat > "$W/conf" <<-EOF
	policy park=60ms
	tenant $(pid a)
	tenant $(pid b)
EOF
guard --config "$W/conf" --json

step "two that rest are parked: one client is left"
kill -STOP "$(pid a)" "$(pid b)"
wait_for 20 alone
sleep 1
alone || fail "$(queues) queues while two processes rest"
expect_progress serve

step "each comes back with its next packet"
kill -CONT "$(pid a)" "$(pid b)"
expect_progress a
expect_progress b
end_guard
stop a
stop b
stop serve
