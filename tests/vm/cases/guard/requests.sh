# SPDX-License-Identifier: GPL-2.0-only
# Servers that know when their work begins and ends report it; and a release of a
# process that is guarded.
# timeout: 120
. /t/lib.sh

guard() {
	setsid gpreempt-ctl guard --max-hold 60s --online comm:none --offline "$p" "$@" \
		> "$W/guard" 2>&1 &
	g=$!
	started="$started $g"
	wait_for 20 grep -q "process $p is offline" "$W/guard"
}

end_guard() {
	kill -TERM "$g"
	wait "$g" || fail "guard ended with $?: $(cat "$W/guard")"
	wait_for 15 running "$p"
}

start off --queues 2 --packet 1ms
p=$(pid off)

step "no guard"
ctl 1 guard begin
says_what_to_do "no guard runs here"
ctl 1 guard release "$p"
says_what_to_do "no guard runs here"
ctl 2 online begin
says "^next: gpreempt-ctl guard begin$"
ctl 2 guard begin now
says_what_to_do "none is expected"

step "nested, by this shell"
guard
running "$p" || fail "held, and no request is open"
ctl 0 guard begin
says "process $$: 1 requests open"
wait_for 15 view_is "$p" suspended 1
ctl 0 guard begin
says "2 requests open"
ctl 0 guard end
expect_suspended "$p"
ctl 0 guard end
says "0 requests open"
wait_for 15 running "$p"
ctl 1 guard end
says_what_to_do "no request open"

step "one that dies is counted out"
sh -c 'gpreempt-ctl guard begin; gpreempt-ctl guard begin; exec sleep 1000' > "$W/server" 2>&1 &
s=$!
started="$started $s"
wait_for 15 grep -q "2 requests open" "$W/server"
wait_for 15 view_is "$p" suspended 1
kill -KILL $s
wait_for 15 running "$p"

step "a second guard does without, and reports it"
timeout 3 gpreempt-ctl guard --online comm:none --offline comm:none > "$W/second" 2>&1
grep -q 'this guard cannot receive "guard begin"' "$W/second" || fail "$(cat "$W/second")"

step "release: for a while, and for good"
ctl 0 guard begin
wait_for 15 view_is "$p" suspended 1
ctl 0 guard release "$p" --for 3s
wait_for 5 running "$p"
wait_for 5 not_traced "$p"
wait_for 20 view_is "$p" suspended 1
ctl 0 guard release "$p"
wait_for 5 running "$p"
sleep 2
running "$p" || fail "it was taken back"
ctl 5 guard release "$p"
says_what_to_do "not guarded"
end_guard

step "who may ask"
guard
as-user gpreempt-ctl guard begin > "$W/ctl" 2>&1
[ $? -eq 4 ] || fail "an ordinary user may ask: $(cat "$W/ctl")"
says_what_to_do "does not let us ask"
end_guard
guard --allow-uid 1000,65534
as-user gpreempt-ctl guard begin > "$W/ctl" 2>&1
[ $? -eq 4 ] || fail "it may speak for a process of root: $(cat "$W/ctl")"
: > "$W/server"
as-user sh -c 'gpreempt-ctl guard begin; exec sleep 1000' > "$W/server" 2>&1 &
s=$!
started="$started $s"
wait_for 15 grep -q "1 requests open" "$W/server"
wait_for 15 view_is "$p" suspended 1
as-user gpreempt-ctl guard release "$p" > "$W/ctl" 2>&1
[ $? -eq 4 ] || fail "it may release: $(cat "$W/ctl")"
expect_suspended "$p"
kill -KILL $s
wait_for 15 running "$p"
end_guard
stop off
