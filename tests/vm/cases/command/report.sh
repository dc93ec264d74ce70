# SPDX-License-Identifier: GPL-2.0-only
# report: of this host, of a snapshot, and of what gpus, list, status, doctor, monitor, preempt
# and guard print and write here. tests/report/take makes tests/report/fixtures of what this
# prints between "begin NAME" and "end NAME".
# vgpu: gpus=2 poll_ns=5000000 save_ns=100000 restore_ns=100000
# timeout: 120
. /t/lib.sh
. /t/guard.sh

program() {
	ln -sf "$(command -v vgpu-load)" "$W/$1"
	PROGRAM="$W/$1" start "$@"
}
# keep NAME FILE
keep() {
	echo "begin $1"
	cat "$2"
	echo "end $1"
}
# takes KIND FILE: report knows it
takes() {
	lab 0 report "$2" --json
	says "\"kind\": *\"$1\""
}

program train --packet 20ms --queues 2 --report 0
program tune --packet 5ms --report 0
program serve --packet 5ms --burst 1 --every 60ms --count 60 --delay 2 --seed 4 --report 0
program notebook --gpu 1 --packet 1ms --report 0
ctl 0 suspend "$(pid notebook)" --for 10m

step "this host: all is known, and who holds whom"
lab 0 report -o "$W/page.html" --json
says '"kind": *"now"'
says '"simulated": *true'
says "\"pid\": *$(pid notebook),"
says '"role": *"suspend"'
says '"check": *"kernel"'
head -c 15 "$W/page.html" | grep -q '^<!DOCTYPE html>' || fail "no page"
tail -n 1 "$W/page.html" | grep -qx '</html>' || fail "it has no end"
gpreempt-lab snapshot -o "$W/day" > /dev/null || fail "snapshot"
takes snapshot "$W/day"
says "\"pid\": *$(pid notebook),"
for list in gpus list status doctor; do
	gpreempt-ctl $list --json > "$W/$list.json" || fail "$list"
	takes "$list --json" "$W/$list.json"
	keep $list.json "$W/$list.json"
done

step "a guard at work"
guard --online "$(pid serve)" --offline "$(pid train)" "$(pid tune)" --poll 200us --json --verbose \
	--metrics "$W/guard.prom" --samples "$W/guard.samples"
gpreempt-ctl monitor "$(pid train)" "$(pid tune)" --csv --duration 2s --interval 50ms \
	> "$W/monitor.csv" 2> "$W/ctl" || fail "monitor"
expect_good_end serve > /dev/null
end_guard
grep '^{' "$W/guard" > "$W/guard.json"
takes "guard --json" "$W/guard.json"
says '"event": *"busy"'
says '"event": *"suspend"'
says '"name": *"arrival to suspended"'
takes metrics "$W/guard.prom"
takes "guard --samples" "$W/guard.samples"
takes "monitor --csv" "$W/monitor.csv"
for file in guard.json guard.prom guard.samples monitor.csv; do
	keep $file "$W/$file"
done

step "a simulation"
cat > "$W/world" << EOF
policy fair slots=1 slice=100ms period=400ms
tenant comm:serve online
tenant comm:train weight=300
tenant comm:tune weight=100
load comm:serve work=60ms gap=140ms
load comm:tune work=700ms gap=900ms
run time=4s switch=470us
EOF
gpreempt-ctl guard --simulate "$W/world" --json > "$W/simulation.json" || fail "guard --simulate"
takes "guard --json" "$W/simulation.json"
says "comm:train offline"
keep simulation.json "$W/simulation.json"

step "preempt"
gpreempt-ctl preempt "$(pid train)" --count 30 --hold 1ms --interval 10ms --samples "$W/preempt.samples" \
	--json > "$W/preempt.json" 2> "$W/ctl" || fail "preempt"
takes "preempt --samples" "$W/preempt.samples"
takes "preempt --json" "$W/preempt.json"
gpreempt-ctl monitor "$(pid tune)" --json --duration 200ms --interval 50ms > "$W/monitor.json" ||
	fail "monitor --json"
takes "monitor --json" "$W/monitor.json"
for file in preempt.samples preempt.json monitor.json; do
	keep $file "$W/$file"
done

step "all of them on one page; and what is none of them"
lab 0 report "$W"/*.json "$W/guard.prom" "$W/monitor.csv" "$W"/*.samples "$W/day" -o "$W/all.html"
rm "$W/all.html"
lab 2 report "$W/guard.json" /etc/passwd -o "$W/all.html"
says_what_to_do "this is no output of gpreempt-ctl that report knows"
[ ! -e "$W/all.html" ] || fail "a page was written"
ctl 0 resume "$(pid notebook)"
for name in train tune notebook; do
	stop $name > /dev/null
done
