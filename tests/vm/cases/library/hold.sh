# SPDX-License-Identifier: GPL-2.0-only
# A program that embeds the library and holds a process through a holder: it is
# killed, it hangs, it waits for the end of the lease, it leaves the hold behind,
# and a second one meets it.
# tier: gate
# timeout: 120
. /t/steps.sh

mkdir -p /usr/local/libexec/gpreempt
ln -sf "$(command -v gpreempt-holder)" /usr/local/libexec/gpreempt/gpreempt-holder

# embed LEASE-MS WHAT: sets $e; returns when the target was seen off the GPU. A short
# lease may be over then.
embed() {
	: > "$W/embed"
	gp-hold "$p" "$@" > "$W/embed" 2>&1 &
	e=$!
	started="$started $e"
	wait_for 20 grep -Eq "^(held|paused) 2 queues, .*verdict 1$" "$W/embed"
}

start a --queues 2 --packet 5ms
p=$(pid a)

step "held, verified, and released"
gp-hold "$p" 0 release > "$W/embed" 2>&1 || fail "release: $(cat "$W/embed")"
grep -q "^held 2 queues, holder [0-9]*, verdict 1$" "$W/embed" || fail "$(cat "$W/embed")"
wait_for 3 running "$p"

step "the program is killed"
embed 0 wait
expect_suspended "$p"
ctl 0 status
says "$p"
kill -KILL $e
wait_for 3 running "$p"

step "the program hangs: its lease is not extended any more"
embed 2000 extend
sleep 2.5
expect_suspended "$p"
kill -STOP $e
wait_for 3 running "$p"
kill -KILL $e

step "nothing extends the lease: the program learns of the end"
embed 500 wait
wait_for 3 running "$p"
wait $e || fail "it waits: $(cat "$W/embed")"
grep -q '^ended$' "$W/embed" || fail "$(cat "$W/embed")"

step "two programs"
embed 0 wait
gp-hold "$p" 0 wait > "$W/second" 2>&1
[ $? -eq 7 ] || fail "the second: $(cat "$W/second")"
grep -q "process $p is held already, by process" "$W/second" || fail "$(cat "$W/second")"
expect_suspended "$p"
ctl 0 resume "$p"
wait $e || fail "after resume: $(cat "$W/embed")"
wait_for 3 running "$p"

step "it is left behind, and its lease counts"
embed $((1500 * SLOW)) detach
wait $e || fail "detach: $(cat "$W/embed")"
expect_suspended "$p"
wait_for 8 running "$p"
expect_progress a

step "by a pause: the program is killed, its holder, and the holder with its guardian"
embed 0 wait pause
expect_view "$p" evicted 1
not_traced "$p" || fail "it is traced"
kill -KILL $e
wait_for 3 running "$p"
embed 0 wait pause
kill -KILL "$(holder_of "$p")"
wait $e
wait_for 3 running "$p"
embed 0 wait pause
kill -KILL "$(holder_of "$p")" "$(guardian_of "$p")"
wait $e
expect_view "$p" evicted 1
ctl 0 repair
says "^${p}[[:space:]]+waits[[:space:]]+unpaused"
expect_progress a

step "a program without the runtime is paused, unless that is not wanted"
start b --packet 5ms --no-runtime
gp-hold "$(pid b)" 0 release > "$W/embed" 2>&1 || fail "release: $(cat "$W/embed")"
grep -q "^paused 1 queues" "$W/embed" || fail "$(cat "$W/embed")"
stop b

step "the target of a program that hangs can be killed"
embed 0 wait
expect_suspended "$p"
kill -STOP $e
kill -KILL "$p"
wait "$p"
[ $? -eq 137 ] || fail "not reaped as killed"
wait_for 15 nothing_held
kill -KILL $e
