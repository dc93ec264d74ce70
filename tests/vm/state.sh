# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# What goes on in the guest, for the log of a test that failed: processes, who traces
# them and where they wait, the view, and what is held.

echo '== processes: pid state tracer wchan command'
for _p in /proc/[0-9]*; do
	_cmd=$(tr '\0' ' ' < "$_p/cmdline" 2> /dev/null)
	[ -n "$_cmd" ] || continue
	echo "${_p#/proc/} $(sed -n 's/^State:.//p; s/^TracerPid:.//p' "$_p/status" \
		2> /dev/null | tr '\n' ' ')$(cat "$_p/wchan" 2> /dev/null) $_cmd"
done | cut -c 1-110 | tail -n 40
for _f in /sys/kernel/debug/gpreempt/pid/*/queues; do
	[ -r "$_f" ] && echo "== $_f" && head -n 8 "$_f"
done
echo "== /run/gpreempt: $(ls /run/gpreempt 2> /dev/null | tr '\n' ' ')"
timeout 10 gpreempt-ctl status 2>&1 | head -n 12
