# SPDX-License-Identifier: GPL-2.0-only
# CRIU with a plug-in that pauses a GPU process while it dumps it, as its own for amdgpu
# does: dump --leave-running beside a hold, without our plug-in and with it.
# timeout: 240
. /t/lib.sh
. /t/engines.sh
. /t/debuggers.sh

# dumped STATUS: criu dump --leave-running of $p ended so
dumped() {
	criu_begin "$p"
	wait_for 60 gone "$criu"
	wait "$criu"
	_status=$?
	grep -E 'Error|gpreempt|resumed' "$W/criu" | sed 's/^/   /'
	[ $_status -eq "$1" ] || fail "criu dump ended with $_status: $(tail -n 5 "$W/criu")"
}

start a --queues 2 --packet 1ms
p=$(pid a)
mkdir -p "$W/lib"
export CRIU_LIBS_DIR="$W/lib"
cp /files/amdgpu-criu.so "$W/lib/"

step "without a hold: dumped, and it runs on"
dumped 0
expect_progress a

step "without our plug-in, held by a session: CRIU cannot trace it"
ctl 0 suspend "$p" --how debug
dumped 1
grep -q 'Operation not permitted' "$W/criu" || fail "$(cat "$W/criu")"
expect_no_progress a
ctl 0 resume "$p"
wait_for 15 running "$p"

step "held by a pause: dumped, and its holder pauses it again"
ctl 0 suspend "$p" --how pause
dumped 0
wait_for 10 off "$p"
wait_for 10 not_traced "$p"
expect_no_progress a
journalctl --quiet --no-pager -o cat -t gpreempt-hold > "$W/journal"
grep -q "another program ended the pause of process $p" "$W/journal" ||
	fail "the holder did not log it: $(cat "$W/journal")"
ctl 0 resume "$p"
wait_for 15 running "$p"

step "CRIU is killed while it has the process paused: resume ends both"
ctl 0 suspend "$p" --how pause
AMDGPU_CRIU_KILL=1 dumped 137
wait_for 10 not_traced "$p"
expect_no_progress a
ctl 0 resume "$p"
wait_for 15 running "$p"
expect_progress a

step "with our plug-in: no hold, no line"
cp /files/gpreempt-criu.so "$W/lib/"
dumped 0
! grep -q gpreempt "$W/criu" || fail "$(cat "$W/criu")"

for options in '--how debug' '--how pause'; do
	step "held by $options: the hold ends before the dump, which works"
	# shellcheck disable=SC2086
	ctl 0 suspend "$p" $options
	dumped 0
	grep -q "gpreempt: process $p was held until now" "$W/criu" || fail "$(cat "$W/criu")"
	wait_for 15 running "$p"
	nothing_left
	expect_progress a
done

step "held by follow: the dump fails before it begins, and it stays held"
gpreempt-ctl follow "$p" --how pause > "$W/follow" 2>&1 &
f=$!
started="$started $f"
wait_for 30 said "^following $p"
kill -STOP "$p"
wait_for 20 off "$p"
dumped 1
grep -q "gpreempt: process $p is held" "$W/criu" || fail "$(cat "$W/criu")"
off "$p" || fail "it runs"
kill -CONT "$p"
wait_for 20 running "$p"
kill -INT $f
wait $f || fail "follow ended with $?"
nothing_left

step "the holder is stopped: the guardian ends it within CRIU's limit, or the dump fails"
ctl 0 suspend "$p" --how pause
kill -STOP "$(holder_of "$p")"
criu_begin "$p"
wait_for 60 gone "$criu"
grep -E 'gpreempt' "$W/criu" | sed 's/^/   /'
wait_for 20 running "$p"
nothing_left
expect_progress a
stop a
