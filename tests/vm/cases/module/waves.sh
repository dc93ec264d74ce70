# SPDX-License-Identifier: GPL-2.0-only
# The column waves is what the virtual GPU executes, by its own count: an idle process,
# one, one with two queues, suspended, 16 processes, more queues than slots, on 8 GPUs.
# vgpu: gpus=8
# timeout: 120
. /t/lib.sh

# truth GPU PID [COLUMN]: of all its queues. 5: waves in all XCCs, 6: in the first
truth() {
	awk -v pid="$2" -v c="${3:-5}" '$1 == pid { n += $c } END { print n + 0 }' "$VGPU/$1/waves"
}

# said PID [FILE]: the sum of the column waves; "-" when one is not known
said() {
	awk 'NR == 2 { for (i = 2; i <= NF; i++) if ($i == "waves") c = i - 1 }
		NR > 2 && $c == "-" { unknown = 1 }
		NR > 2 { n += $c }
		END { print unknown ? "-" : n + 0 }' "$VIEW/$1/${2:-queues}"
}

# same GPU PID [WAVES]: so many by all counts. Packets go on meanwhile, so a look can fall
# between two of them: one of five has to find all counts equal.
same() {
	for _try in 1 2 3 4 5; do
		_want=${3:-$(truth "$1" "$2")}
		_got="$(said "$2") $(said "$2" usage) $(said "$2" hqds) $(truth "$1" "$2")"
		[ "$_got" != "$_want $_want $_want $_want" ] || return 0
		sleep "0.0$((_try * 7 + 10))"
	done
	fail "waves of $2: $_got, not $_want"
}

step "idle: queues and no packet"
start idle --queues 2 --every 1000s --delay 1000s
same 0 "$(pid idle)" 0

step "64 workgroups of four waves"
start a --queues 2 --packet 20ms --workgroups 64
a=$(pid a)
wait_for 15 running "$a"
same 0 "$a"
[ "$_want" -ge 256 ] || fail "only $_want waves"
same 0 "$(pid idle)" 0

step "suspended"
hold "$a"
same 0 "$a" 0
release_target "$a"
stop a

step "8 GPUs: each its own"
for g in 1 3 7; do
	start "g$g" --gpus $g --packet 20ms --workgroups $((g * 8))
done
for g in 1 3 7; do
	wait_for 15 running "$(pid g$g)"
	same $g "$(pid g$g)" $((g * 32))
	stop "g$g"
done

# cells FILE PID: waves and busy of a process, by the names of the columns
cells() {
	awk -v pid="$2" '$1 == "#" { for (i = 2; i <= NF; i++) at[$i] = i - 1 }
		NR > 2 && $at["pid"] == pid { print $at["waves"], $at["busy"] }' "$1"
}

# Each queue begins on another XCC: init_mqd_v9_4_3(). The virtual GPU's account says which.
step "one workgroup, five queues in turn: busy whatever the XCC"
xccs=
for n in 1 2 3 4 5; do
	start one --packet 500ms --depth 4 --report 0
	one=$(pid one)
	wait_for 15 running "$one"
	sleep 0.1
	seen=0
	for f in usage "pid/$one/usage"; do
		for look in 1 2 3 4 5; do
			set -- $(cells "$DEBUGFS/gpreempt/$f" "$one")
			[ "$1 $2" != "1 1" ] || seen=$((seen + 1))
		done
	done
	xcc=$(awk -v pid="$one" '$1 == pid { for (i = 5; i <= NF; i++) if ($i) print i - 5 }' \
		"$VGPU/0/busy")
	echo "on XCC $xcc: busy in $seen of 10 looks"
	[ $seen -ge 9 ] || fail "waves and busy are $1 $2, while it executes on XCC $xcc"
	xccs="$xccs $xcc"
	stop one
done
[ "$(echo "$xccs" | tr ' ' '\n' | grep . | sort -u | wc -l)" -eq 4 ] || fail "not on four XCCs:$xccs"

# share PID...: of 40 looks at each, those with waves, against its time with waves
share() {
	_t0=$(uptime_cs) seed=$SEED
	for _p; do
		eval "_w$_p=\$(awk -v pid=$_p '\$1 == pid { printf \"%d\", \$3 / 1e6 }' \"$VGPU/0/busy\")"
		eval "_n$_p=0 _u$_p=0"
	done
	_looks=0
	while [ $_looks -lt 40 ]; do
		_looks=$((_looks + 1))
		for _p; do
			_s=$(said "$_p")
			case $_s in
			0) ;;
			-) eval "_u$_p=\$((_u$_p + 1))" ;;
			*) eval "_n$_p=\$((_n$_p + 1))" ;;
			esac
		done
		draw 90
		sleep "0.0$((drawn + 10))"
	done
	_span=$((($(uptime_cs) - _t0) * 10))
	_bad=0
	for _p; do
		_now=$(awk -v pid="$_p" '$1 == pid { printf "%d", $3 / 1e6 }' "$VGPU/0/busy")
		eval "_n=\$_n$_p _u=\$_u$_p _true=\$(((_now - _w$_p) * 100 / _span))"
		_seen=$((_n * 100 / (_looks - _u)))
		echo "process $_p: $_seen % of looks, $_true % of the time, $_u unknown"
		[ $((_seen - _true)) -le 20 ] && [ $((_true - _seen)) -le 20 ] || _bad=1
		[ $_u -le 4 ] || _bad=1
	done
	[ $_bad -eq 0 ] || fail "a share of looks is not that of the time"
}

step "16 processes that share the slots, 32 queues on 24 of them: over-subscribed"
i=0 all=
while [ $i -lt 16 ]; do
	start "s$i" --queues 2 --packet 2ms --workgroups 16
	all="$all $(pid s$i)"
	i=$((i + 1))
done
sleep 1
# shellcheck disable=SC2086 # words
set -- $all
share "$1" "${16}"
i=0
while [ $i -lt 16 ]; do
	stop "s$i"
	i=$((i + 1))
done
kill -TERM "$(pid idle)"
wait "$(pid idle)"
