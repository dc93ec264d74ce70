# SPDX-License-Identifier: GPL-2.0-only
# top with several GPUs: a bar for each, a process on two of them, one that is suspended and
# one that is paused, with who holds them. Its screen in colours makes docs/top.png.
# vgpu: gpus=4 quantum_ns=20000000
# timeout: 120
. /t/lib.sh

export LC_ALL=C.UTF-8 TERM=xterm-256color

shows() {
	tmux -L t capture-pane -p > "$W/screen"
	for _text; do
		grep -qE -e "$_text" "$W/screen" || return 1
	done
}

for name in train finetune serve embed rerank; do
	ln -sf "$(command -v vgpu-load)" "/tmp/$name"
done
# load NAME ARGS...
load() {
	_name=$1
	shift
	PROGRAM="/tmp/$_name" start "$_name" --workgroups 512 --report 0 "$@"
}

load train --gpus 0,1 --queues 2 --packet 100ms
load finetune --gpus 2 --queues 4 --packet 50ms
load serve --gpus 2 --packet 20ms --rate 12
load embed --gpus 3 --packet 30ms --rate 8
load rerank --gpus 3 --packet 10ms --rate 15
hold "$(pid finetune)"
ctl 0 suspend "$(pid rerank)" --how pause
tmux -L t -f /dev/null new-session -d -x 132 -y 18 "gpreempt-ctl top -d 500ms" || fail "no tmux"
wait_for 30 shows "^GPU .*⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿"
for gpu in 0 1 2 3; do
	shows "^GPU $gpu .*\[.*%\] waves" || fail "no bar of $gpu"
done
shows "^ *$(pid train) root +2 GPUs +[0-9.]+ waves" \
	"^ *$(pid finetune) .* suspended +$(holder_of "$(pid finetune)") suspend" \
	"^ *$(pid rerank) .* paused " || fail "not these processes: $(cat "$W/screen")"
echo "begin top.ansi"
tmux -L t capture-pane -e -p
echo "end top.ansi"
tmux -L t send-keys q
wait_for 10 gone "$(pidof gpreempt-ctl)"
ctl 0 resume "$(pid finetune)"
ctl 0 resume "$(pid rerank)"
