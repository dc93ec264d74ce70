# SPDX-License-Identifier: GPL-2.0-only
# top on a terminal of tmux: how busy a process is, groups, tenants of guard, filter, a process
# alone, suspend and resume by keys, another size, and a terminal that is as before; --batch and
# --json.
# timeout: 150
. /t/lib.sh
. /t/guard.sh

export LC_ALL=C.UTF-8 TERM=xterm

tmux_() {
	tmux -L t -f /dev/null "$@"
}

# shows TEXT...: all of them, as regular expressions, are on the screen.
shows() {
	tmux_ capture-pane -p | grep . > "$W/screen"
	for _text; do
		grep -qE -e "$_text" "$W/screen" || return 1
	done
}

shows_not() {
	! shows "$1"
}

keys() {
	tmux_ send-keys "$@"
}

# For the documents.
print_screen() {
	echo "screen: $1"
	tmux_ capture-pane -p
	echo "end of the screen"
}

start a --queues 2 --packet 5ms
start b --queues 1 --packet 4ms --rate 60
a=$(pid a) b=$(pid b)
wait_for 15 running "$a"
gpu=0 # its index

step "without a terminal"
ctl 0 top --batch -n 1 -d 1s
says "^$a	.*	$gpu	[0-9.]*	waves	2	"
grep -c '^# pid' "$W/ctl" | grep -qx 1 || fail "not one table"
ctl 0 top --json -n 2 -d 500ms
[ "$(grep -c '^{"time"' "$W/ctl")" -eq 2 ] || fail "not two lines"
grep -q '"simulated":true' "$W/ctl" || fail "it does not report that the GPU is simulated"
ctl 2 top
says_what_to_do 'needs a terminal'

step "the screen"
tmux_ new-session -d -x 120 -y 24 sh || fail "no tmux"
before=$(tmux_ display -p '#{cursor_flag} #{alternate_on}')
keys 'stty -a > '"$W"'/stty1; gpreempt-ctl top -d 500ms; echo status $?' Enter
wait_for 20 shows 'gpreempt-ctl top: 2 processes, 1 GPU, every 500ms, simulated GPU' \
	"GPU $gpu .*\[[|]+.*[0-9]%\]" "^ *$a root +$gpu +[1-9][0-9.]* .* active .*vgpu-load --queues 2"
# The history grows from the right.
wait_for 20 shows "GPU $gpu .*⣿⣿⣿⣿⣿⣿⣿⣿"
print_screen main

step "sorted, grouped, filtered"
keys N
wait_for 10 shows "PID"
keys t
wait_for 10 shows 'groups: cgroup' '[12] process(es)?, BUSY% [0-9]'
keys t
wait_for 10 shows 'no container +2 processes'
keys t t
keys /
wait_for 10 shows '^filter:'
keys -l 'rate 60'
wait_for 10 shows_not "^ *$a "
shows "^ *$b " || fail "the filter hides what has the text"
keys Escape
wait_for 10 shows "^ *$a " "^ *$b "

step "tenants of guard"
keys T
wait_for 10 shows 'no groups by tenant: no guard runs here'
guard --online "$b" --offline "$a"
wait_for 20 said "process $a is offline"
wait_for 20 said "process $b is online"
keys T
wait_for 20 shows "^online, [0-9.]* s on GPUs, 0 requests: $b +1 process" \
	"^offline, [0-9.]* s on GPUs, [0-9]* suspends*: $a +1 process"
print_screen tenants
end_guard
wait_for 10 shows 'no groups by tenant: no guard runs here'
wait_for 20 shows "^ *$a .* active "

step "a process alone"
keys Home Enter
wait_for 10 shows "^process $a +vgpu-load --queues 2" 'held by|state active' '^ +1 +0 +compute-aql'
print_screen details
keys Escape

step "suspended and resumed by keys"
wait_for 10 shows 'HISTORY|BUSY%'
keys s
wait_for 10 shows "^suspend $a vgpu-load .* until it is resumed\? y/N"
keys n
wait_for 10 shows 'nothing was done'
expect_view "$a" suspended 0
keys s
wait_for 10 shows 'y/N'
keys y
wait_for 30 shows "^ *$a .* suspended +$(holder_of "$a" 2> /dev/null)"
wait_for 10 shows "^ *$a .* suspended +[0-9]+ suspend"
expect_view "$a" suspended 1
wait_for 10 shows "^suspended $a: 2 queues, "
print_screen suspended
keys r
wait_for 10 shows "^resume $a "
keys y
wait_for 30 shows "^ *$a .* active "
expect_view "$a" suspended 0

step "a signal"
keys End
keys k
wait_for 10 shows "^signal to $b: "
keys t
wait_for 10 shows "^send SIGTERM to $b .*y/N"
keys y
wait_for 20 shows_not "^ *$b "

step "another size"
tmux_ resize-window -x 60 -y 12
wait_for 10 shows '^1 process, 1 GPU, every 500ms, simulated GPU$' "^ *$a "
print_screen narrow
keys '?'
wait_for 10 shows '^Keys$'
keys q

step "the terminal is as before; the module goes"
tmux_ resize-window -x 120 -y 24
keys q
wait_for 10 shows 'status 0'
[ "$(tmux_ display -p '#{cursor_flag} #{alternate_on}')" = "$before" ] || fail "the terminal is not as before"
keys 'stty -a > '"$W"'/stty2' Enter
wait_for 10 cmp -s "$W/stty1" "$W/stty2"
keys 'gpreempt-ctl top -d 500ms; echo status again $?' Enter
wait_for 20 shows "^ *$a .* active "
unload
wait_for 20 shows '^BUSY% is not known: .*gpreempt.ko' 'modprobe gpreempt' "^ *$a "
keys C-c
wait_for 10 shows 'status again 0'
keys 'clear; TERM=dumb gpreempt-ctl top; echo status dumb $?' Enter
wait_for 10 shows 'cannot move its cursor' 'status dumb 3'
tmux_ kill-server
