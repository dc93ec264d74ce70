# SPDX-License-Identifier: GPL-2.0-only
# Pausers, holders, repairs and targets killed at random moments, several controllers
# at once: what is paused afterwards is in the journal, and repair or resume undo it.
# KILLS=n: so many kills.
# race: several controllers and repairs at once, all of them killed
# timeout: 200
# driver: any
. /t/steps.sh

: "${KILLS:=20}"
seed=$SEED
start a --queues 2 --packet 1ms
start b --packet 1ms --no-runtime

# Any process of ours, but the shells.
victims() {
	pidof gpreempt-ctl gpreempt-hold
}

# controller LABEL SEED
controller() {
	seed=$2
	set -- "$1"
	while [ ! -e "$W/stop" ]; do
		_t=$(pid "$1")
		draw 5
		case $drawn in
		0) set -- "$1" suspend "$_t" --how pause ;;
		1) set -- "$1" suspend "$_t" --how pause --for 30s ;;
		2) set -- "$1" suspend "$_t" --how pause --for 50ms ;;
		3) set -- "$1" resume "$_t" ;;
		4) set -- "$1" repair ;;
		esac
		_l=$1
		shift
		timeout $((30 * PACE)) gpreempt-ctl "$@" > "$W/c.$_l" 2>&1
		echo $? >> "$W/results"
		set -- "$_l"
	done
}

controller a $((SEED + 1)) & c1=$!
controller a $((SEED + 2)) & c2=$!
controller b $((SEED + 3)) & c3=$!
started="$started $c1 $c2 $c3"
kills=0
end=$(($(uptime_cs) + (7000 + 100 * KILLS) * SLOW))
while [ $kills -lt "$KILLS" ] && [ "$(uptime_cs)" -lt $end ]; do
	draw 60
	usleep $((drawn * 1000))
	# shellcheck disable=SC2046
	set -- $(victims)
	[ $# -gt 0 ] || continue
	draw $#
	shift "$drawn"
	kill -9 "$1" 2> /dev/null && kills=$((kills + 1))
done
touch "$W/stop"
wait $c1 $c2 $c3
echo "   $kills kills; statuses: $(sort "$W/results" | uniq -c | tr '\n' ';')"
[ $kills -eq "$KILLS" ] || fail "only $kills processes were killed"

step "what is left is known, and undone"
# The holder of a pause that is over may end still.
repaired() { gpreempt-ctl repair > "$W/ctl" 2>&1; }
wait_for 3 repaired
for l in a b; do
	p=$(pid $l)
	ctl 0 resume "$p"
	wait_for 15 running "$p"
	expect_progress $l
	not_traced "$p" || fail "$l is traced"
done
ctl 0 repair
says 'nothing is paused'
for f in /run/gpreempt/*.pause; do
	[ ! -e "$f" ] || fail "left behind: $f"
done
stop a
stop b
