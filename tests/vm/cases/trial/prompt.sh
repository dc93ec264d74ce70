# SPDX-License-Identifier: GPL-2.0-only
# On a terminal a stage that suspends asks first: y begins it, n leaves it out, Ctrl-C ends the
# trial, and nothing is held.
# vgpu: profile=gfx90a
# timeout: 120
. /t/trial.sh

mkfifo "$W/keys"

# typed ARGS...: a trial on a terminal of its own, whose keys go into $W/keys
typed() {
	on-terminal sh -c 'trap : INT; gpreempt-ctl trial --minutes 1 "$@"; echo "ended with $?"' sh "$@" \
		0<> "$W/keys" > "$W/page" 2>&1 &
	terminal=$!
	started="$started $terminal"
}

# asked STAGE
asked() { tail -n 1 "$W/page" | grep -q "$1: .* Go on? \[y/N\] *$"; }
ended() { grep -q "^ended with $1" "$W/page"; }

step "y, and n"
typed --stages 0,2,3
wait_for 30 asked idle
[ ! -e /var/lib/gpreempt/trial ] || fail "it began before the answer"
printf 'y\n' > "$W/keys"
wait_for 60 asked waves
printf 'n\n' > "$W/keys"
wait_for 30 ended 0
page '^ *2 +idle +done'
page '^ *3 +waves +left out .*--yes'
kill $terminal

step "Ctrl-C"
typed --stages 2-4
wait_for 30 asked idle
printf '\003' > "$W/keys"
wait_for 30 ended 1
grep -q 'interrupted; nothing is held' "$W/page" || fail "no word of it: $(cat "$W/page")"
! asked waves || fail "it asked again"
kill $terminal
[ ! -e /var/lib/gpreempt/trial ] || fail "a state is left"
as_before
