# SPDX-License-Identifier: GPL-2.0-only
# trace of a command: its exit status, its GPU process as the target, and its
# AMD log on the same timeline.
# timeout: 90
. /t/lib.sh
. /t/trace.sh

tracing_state > "$W/before"
cat > "$W/command" <<'END'
dispatch() {
	now=$(awk '{ printf "%.0f", $1 * 1000000 }' /proc/uptime)
	echo ":4:rocvirtual.cpp           :1083: $now us: [pid:$p tid: 0x7f8edc1c4400] \
SWq=0x7f0001, HWq=0x7f0002, id=1, Dispatch Header = 0x1502 (type=2, barrier=1, acquire=2, \
release=2), setup=3, grid=[1, 1, 1], workgroup=[1, 1, 1], rptr=$1, wptr=$1" \
		>> "$AMD_LOG_LEVEL_FILE"
}

cd /
echo "level $AMD_LOG_LEVEL"
vgpu-load --queues 1 --packet 1ms > "$1/load" &
p=$!
until grep -q '^t ' "$1/load"; do sleep 0.1; done
sleep 0.5
dispatch 1
sleep 0.1
gpreempt-ctl suspend $p > /dev/null || exit 1
sleep 0.1
dispatch 2
sleep 0.1
gpreempt-ctl resume $p > /dev/null || exit 1
sleep 0.1
dispatch 3
kill $p
wait $p
exit 7
END

step "a command"
cd "$W" || exit
timeout $((60 * PACE)) gpreempt-lab trace --json -o dir --amd-log 4 -- sh "$W/command" "$W" \
	> "$W/run.json" 2> "$W/notes"
[ $? -eq 7 ] || fail "status $?: $(cat "$W/notes")"
cat "$W/notes"
tracing_unchanged
grep -qx 'level 4' "$W/notes" || fail "no level in its environment"
ls dir
for f in amd.log trace.json report.json; do
	[ -s "dir/$f" ] || fail "no $f"
done
[ "$(phase_n run suspend total)" = 1 ] || fail "no suspend"
[ "$(phase_n run resume total)" = 1 ] || fail "no resume"
[ "$(value run amd_log_packets)" = 3 ] || fail "not three packets"
sums_are_totals run
json-value dir/report.json operations | grep -qx "$(value run operations)" || fail "report.json"
json-value dir/trace.json displayTimeUnit > /dev/null || fail "trace.json"

step "one clock"
target=$(value run targets 0)
tr '{,' '\n\n' < dir/trace.json | awk -v target="$target" '
	/"name":"(suspend|resume|dispatch)"/ { name = $0; gsub(/.*:"|"/, "", name) }
	/"pid":/ { pid = $0; sub(/.*:/, "", pid) }
	/"ts":/ && name != "" { sub(/.*:/, ""); print $0, name, pid == target; name = "" }' |
	sort -n > "$W/order"
cat "$W/order"
[ "$(cut -d' ' -f2,3 "$W/order" | tr '\n' ' ')" = \
	"dispatch 1 suspend 1 dispatch 1 resume 1 dispatch 1 " ] || fail "not in the order of time"

step "a directory that is there; no such command; killed by a signal; without -o"
lab 1 trace -o dir -- true
says_what_to_do 'cannot make the directory dir'
lab 127 trace -- /no/such/program
says_what_to_do 'cannot run'
lab 137 trace -- sh -c 'kill -9 $$'
lab 0 trace -- true
says '^# traced .* 0 operations on 0 processes'
tracing_unchanged
