# SPDX-License-Identifier: GPL-2.0-only
# guard and follow do their work with the rights that their systemd units leave
# them: these capabilities only, no new ones, and files that can't be written.
# timeout: 90
. /t/lib.sh
. /t/guard.sh

# As in the units; check-units compares.
CAPS="CAP_SYS_ADMIN CAP_SYS_PTRACE CAP_CHECKPOINT_RESTORE CAP_DAC_READ_SEARCH CAP_SYS_NICE CAP_IPC_LOCK"

# as_unit COMMAND...: in the background, $g is its PID.
as_unit() {
	: > "$W/guard"
	# shellcheck disable=SC2086 # several words
	setsid as-unit $CAPS -- gpreempt-ctl "$@" > "$W/guard" 2>&1 &
	g=$!
	started="$started $g"
}

caps_of() {
	awk '$1 == "CapEff:" { print $2 }' "/proc/$1/status"
}

start off --queues 2 --packet 2ms --rate 50
start on --queues 1 --packet 100ms --rate 2

step "guard: it finds both, suspends and resumes, and serves requests"
as_unit guard --online "$(pid on)" --offline "$(pid off)" --verbose --poll 1ms
wait_for 20 said "process $(pid off) is offline"
# CHECKPOINT_RESTORE 40, SYS_NICE 23, SYS_ADMIN 21, SYS_PTRACE 19, IPC_LOCK 14, DAC_READ_SEARCH 2
[ "$(caps_of "$g")" = 0000010000a84004 ] || fail "it has other rights: $(caps_of "$g")"
wait_for 20 said "^suspended $(pid off): arrival, 2 of 2 queues"
wait_for 20 said "^resumed $(pid off): idle"
gpreempt-ctl guard release "$(pid off)" || fail "release: $?"
wait_for 15 running "$(pid off)"
expect_progress off
end_guard

step "guard by pauses: it suspends and resumes"
as_unit guard --how pause --online "$(pid on)" --offline "$(pid off)" --verbose --poll 1ms
wait_for 20 said "^suspended $(pid off): arrival, 2 of 2 queues"
wait_for 20 said "^resumed $(pid off): idle"
end_guard

step "follow: the target is stopped, and goes on"
as_unit follow "$(pid off)"
wait_for 15 said "^following $(pid off)"
kill -STOP "$(pid off)"
wait_for 15 view_is "$(pid off)" evicted 1
kill -CONT "$(pid off)"
wait_for 15 running "$(pid off)"
expect_progress off
kill -TERM "$g"
wait "$g" || fail "follow ended with $?: $(cat "$W/guard")"

step "the lists and the names of containers"
# shellcheck disable=SC2086 # several words
as-unit $CAPS -- gpreempt-ctl list --json > "$W/json" || fail "list: $?"
grep -q '"source": "module"' "$W/json" || fail "it can't read the view"
stop on
stop off
