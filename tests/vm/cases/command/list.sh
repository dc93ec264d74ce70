# SPDX-License-Identifier: GPL-2.0-only
# The list of GPU processes: without a command, in a pipe, as JSON, on a
# terminal, as an ordinary user and without the module; holders are labelled, and one
# command takes several targets.
# tier: gate
# timeout: 90
. /t/lib.sh

tab=$(printf '\t')

# cell PID COLUMN: of the list in $W/ctl.
cell() {
	awk -F '\t' -v pid="$1" -v column="$2" '
		NR == 1 { sub(/^# /, ""); for (i = 1; i <= NF; i++) if ($i == column) c = i }
		$1 == pid { print $c }' "$W/ctl"
}

# is PID COLUMN VALUE
is() {
	[ "$(cell "$1" "$2")" = "$3" ] || fail "$2 of $1 is '$(cell "$1" "$2")', not '$3'"
}

step "no process uses the GPU"
ctl 0
says 'no process uses the GPU'

start a --queues 2 --sdma 1 --packet 5ms
start b --queues 1 --packet 5ms
a=$(pid a) b=$(pid b)
wait_for 15 running "$a"
wait_for 15 running "$b"
gpu=$(view "$a" gpu_id 0)

step "in a pipe"
ctl 0
head -n 1 "$W/ctl" | grep -q "^# pid${tab}container${tab}" || fail "no names of columns"
is "$a" queues 3
is "$a" kfd_gpu_id "$gpu"
is "$a" active 9
is "$a" slots 9
is "$a" state active
is "$a" held_by -
is "$b" queues 1
is "$a" command "vgpu-load --queues 2 --sdma 1 --packet 5ms"

step "held, and by whom"
hold "$a"
ctl 0 list
is "$a" state suspended
is "$a" active 0
is "$a" held_by "$(holder_of "$a")"
is "$a" held_as suspend
is "$(holder_of "$a")" state holder
is "$b" state active
ctl 0 suspend "$b" --queues 0 --for 30s
ctl 0 list comm:vgpu-load
[ "$(grep -c vgpu-load "$W/ctl")" -eq 2 ] || fail "not the two processes"
ctl 5 list "$(holder_of "$a")"
says 'is a holder of gpreempt'

step "both at once"
ctl 0 resume comm:vgpu-load
[ "$(grep -c '^resumed ' "$W/ctl")" -eq 2 ] || fail "not both were resumed"
wait_for 15 running "$a"
ctl 5 suspend "$a" comm:not-here
says_what_to_do 'comm:not-here names no GPU process'
expect_view "$a" suspended 0

step "as JSON"
gpreempt-ctl --json > "$W/json" || fail "--json"
grep -q '"source": "module"' "$W/json" || fail "source"
[ "$(grep -c '"pid":' "$W/json")" -eq 2 ] || fail "not two processes: $(cat "$W/json")"

step "on a terminal"
terminal 80 gpreempt-ctl > "$W/pty" || fail "on a terminal"
sed "s/^/   /" "$W/pty"
grep -q 'PID.*COMMAND' "$W/pty" || fail "no heading"
awk '{ gsub(/\033\[[0-9]*m/, ""); sub(/\r$/, ""); if (length($0) > 80) exit 1 }' "$W/pty" ||
	fail "wider than the terminal"

step "as an ordinary user, and without the module"
chmod 700 "$DEBUGFS"
as-user gpreempt-ctl > "$W/ctl" 2>&1 || fail "status $?"
says 'not known: only root may read'
is "$a" queues 3
is "$a" state -
unload
ctl 0 list
says 'gpreempt.ko is not loaded'
is "$a" queues 3
is "$a" kfd_gpu_id "$gpu"
is "$a" slots -
ctl 0 --json
says '"slots": null'
says '"source": "sysfs"'
stop a
stop b
