# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# What the cases with real engines share, besides lib.sh: GPU processes that others start,
# in a cgroup of theirs, and how soon their queues are off after a freeze.

CG=/sys/fs/cgroup

# load_in DIR LABEL ARGS...: words for sh -c, that make a vgpu-load of it whose output is
# where lib.sh looks; $W is DIR there.
load_in() {
	_dir=$1 _label=$2
	shift 2
	: > "$W/$_label.out"
	echo "exec vgpu-load $* > $_dir/$_label.out 2> $_dir/$_label.err"
}

ready_or_not() { is_ready "$1" || [ -s "$W/$1.err" ]; }

loads_below() {
	find "$CG$1" -name cgroup.procs -exec cat {} + 2> /dev/null | while read -r _p; do
		! grep -qx vgpu-load "/proc/$_p/comm" 2> /dev/null || echo "$_p"
	done
}

# found LABEL CGROUP: it runs, in or below this cgroup; its PID is then "$(pid LABEL)".
found() {
	wait_for 60 ready_or_not "$1"
	is_ready "$1" || fail "$1 did not start: $(cat "$W/$1.err")"
	_pid=$(loads_below "$2")
	[ "$(echo "$_pid" | wc -w)" -eq 1 ] || fail "in $2 run, as vgpu-load: $_pid"
	eval "pid_$1=$_pid"
	started="$started $_pid"
}

# unit NAME ARGS...: a GPU process as a service; UNIT_OPTIONS: of systemd-run
unit() {
	_name=$1
	shift
	: > "$W/$_name.out"
	# shellcheck disable=SC2086 # several words
	systemd-run --quiet --unit="$_name" -p "StandardOutput=append:$W/$_name.out" \
		-p "StandardError=append:$W/$_name.err" ${UNIT_OPTIONS:-} vgpu-load "$@" ||
		fail "systemd-run: $?"
	found "$_name" "$(systemctl show -P ControlGroup "$_name.service")"
}

has_done() { grep -q '^done ' "$W/$1.out"; }

# ended_well LABEL: as expect_good_end, of a process that is no child of ours.
ended_well() {
	wait_for 60 has_done "$1"
	grep '^done ' "$W/$1.out"
	[ "$(result "$1" submitted)" = "$(result "$1" completed)" ] ||
		fail "$1: completed and submitted differ"
	[ "$(result "$1" completed)" -gt 0 ] || fail "$1: no packet at all"
}

# off PID: none of its queues is on the GPU.
off() { view_is "$1" active 0; }

# watch_freeze PID CGROUP: in the background, for off_in_time.
watch_freeze() {
	: > "$W/freeze"
	{
		until frozen "$2"; do :; done
		now_cs
		_frozen=$_cs
		until off "$1"; do :; done
		now_cs
		echo "$((_cs - _frozen))0 ms" > "$W/freeze"
	} &
	watcher=$!
	started="$started $watcher"
}

# frozen CGROUP: as the kernel says; without a process, for watch_freeze
frozen() {
	while read -r _word _value; do
		[ "$_word" != frozen ] || break
	done < "$CG$1/cgroup.events"
	[ "$_value" = 1 ]
}

# off_in_time: the queues were off 100 ms after the freeze was seen, as far as a shell on
# an emulated processor can tell.
off_in_time() {
	wait_for 30 test -s "$W/freeze"
	read -r _ms _ < "$W/freeze"
	echo "   off $_ms ms after the freeze"
	between "$_ms" 0 $((100 * PACE)) "the queues were off after so many ms"
}

# follow_unit TARGET: gpreempt-follow@ of it, which follows a process; it is then $follower
follow_unit() {
	follower=$(systemd-escape --template gpreempt-follow@.service "$1")
	timeout $((60 * PACE)) systemctl start "$follower" ||
		fail "$follower does not start: $(systemctl status "$follower")"
	wait_for 30 logged "$follower" '^following '
}

# logged UNIT REGEX: the journal has that of the unit.
logged() {
	journalctl --quiet --no-pager -o cat -u "$1" > "$W/journal" 2>&1
	grep -Eq -e "$2" "$W/journal"
}

is_active() { [ "$(systemctl is-active "$1")" = active ]; }
is_inactive() { ! is_active "$1"; }

# nothing_left: no pause, no holder, no cgroup of one; gpreempt-hold itself may stay
no_hold_cgroup() { [ -z "$(ls -d "$CG"/gpreempt-hold/*/ 2> /dev/null)" ]; }
nothing_left() {
	wait_for 30 nothing_held
	wait_for 10 no_hold_cgroup
	ctl 0 repair
	says 'nothing is paused'
}

# no_file LIST: of those that a package had
no_file() {
	while read -r _f; do
		[ ! -f "$_f" ] && [ ! -L "$_f" ] || fail "$_f is left"
	done < "$1"
}

# pause_and_go ENGINE LOG...: the container train, whose process is $p and whose cgroup is
# $cgroup, is paused and unpaused; the command LOG... REGEX finds what follow said
pause_and_go() {
	_engine=$1
	shift
	watch_freeze "$p" "$cgroup"
	"$_engine" pause train > /dev/null || fail "$_engine pause: $?"
	wait_for 15 off "$p"
	off_in_time
	wait_for 15 "$@" "^suspended $p: it is frozen, 2 of 2 queues"
	"$_engine" unpause train > /dev/null || fail "$_engine unpause: $?"
	wait_for 15 running "$p"
	expect_progress train
}

said() {
	grep -Eq -e "$1" "$W/follow"
}

# followed_by_name ENGINE: from the command line, and by the unit, which goes on
followed_by_name() {
	step "followed by name from the command line"
	setsid gpreempt-ctl follow container:train > "$W/follow" 2>&1 &
	_f=$!
	started="$started $_f"
	wait_for 30 said "^following $p: "
	pause_and_go "$1" said
	kill -INT "$_f"
	wait "$_f" || fail "the follower ended with $?"

	step "followed by name by the unit"
	follow_unit container:train
	pause_and_go "$1" logged "$follower"
}

# image NAME DIR: localhost/NAME:1 for pods, which sleeps unless it has a command
image() {
	mkdir -p "$W/image"
	tar -C "$2" -cf "$W/image/layer.tar" .
	_sum=$(sha256sum < "$W/image/layer.tar")
	cat > "$W/image/config.json" <<-END
		{"architecture":"amd64","os":"linux",
		"config":{"Entrypoint":["/bin/busybox","sleep","1000000"]},
		"rootfs":{"type":"layers","diff_ids":["sha256:${_sum%% *}"]}}
	END
	cat > "$W/image/manifest.json" <<-END
		[{"Config":"config.json","RepoTags":["localhost/$1:1"],"Layers":["layer.tar"]}]
	END
	tar -C "$W/image" -cf "$W/image.tar" manifest.json config.json layer.tar
	ctr -n k8s.io images import "$W/image.tar" > /dev/null || fail "ctr images import: $?"
	rm -r "$W/image" "$W/image.tar"
}

# cri_node: containerd as a node of Kubernetes has it, with NRI, and an image to load GPUs
cri_node() {
	mkdir -p /etc/containerd
	cat > /etc/containerd/config.toml <<-END
		version = 2
		[plugins."io.containerd.grpc.v1.cri"]
		  sandbox_image = "localhost/load:1"
		  disable_apparmor = true
		[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
		  runtime_type = "io.containerd.runc.v2"
		[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
		  SystemdCgroup = true
		[plugins."io.containerd.nri.v1.nri"]
		  disable = false
	END
	systemctl start containerd || fail "start: $?"
	image load /srv/ctr
}
