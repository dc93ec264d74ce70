#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# How fast the parser of the driver's text is, and how much faster than a
# straightforward one in Python on the same files. On the host, one core.
#
#   parse.sh BUILD-DIRECTORY
#
# Takes the captures of a real host, if they are there (CAPTURES names their
# directory), else text of their size. Prints "key value" lines; fails when both
# parsers do not find the same, or when it is slower than it has to be:
# 3 ms, 8 times.
set -eu

here=$(dirname "$0")
build=$1
dir=${CAPTURES:-$here/../../../shared/captures}/mi308x
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ -r "$dir/mqds_16_streams.txt" ]; then
	mqds=$dir/mqds_16_streams.txt hqds=$dir/hqds_16_streams.txt
	source="captures of eight MI308X"
else
	mqds=$work/mqds hqds=$work/hqds
	awk -v what=mqds -f "$here/parse-text.awk" > "$mqds"
	awk -v what=hqds -f "$here/parse-text.awk" > "$hqds"
	source="made-up text of that size"
fi
bytes=$(cat "$mqds" "$hqds" | wc -c)

# Turn about, because other work on the machine slows both down.
for _ in 1 2 3; do
	"$build/bench-parse" "$mqds" "$hqds" 30 >> "$work/c"
	python3 "$here/parse.py" "$mqds" "$hqds" 3 >> "$work/python"
done
sort -n "$work/c" | head -n 1 > "$work/c.best"
sort -n "$work/python" | head -n 1 > "$work/python.best"
read -r c found < "$work/c.best"
read -r python found_python < "$work/python.best"
[ "$found" = "$found_python" ] && [ "$found" = "5 20 20" ] || {
	echo "parse: C finds $found, Python $found_python (queues, slots, owned), not 5 20 20" >&2
	exit 1
}
echo "# parse: $bytes bytes ($source), queues, active slots and owned ones: $found"
awk -v c="$c" -v python="$python" -v bytes="$bytes" 'BEGIN {
	printf "parse_ms %.3f\n", c
	printf "parse_python_ms %.1f\n", python
	printf "parse_mb_s %.0f\n", bytes / 1e3 / c
	printf "parse_vs_python %.1f\n", python / c
	exit !(c <= 3 && python / c > 8)
}' || {
	echo "parse: slower than 3 ms, or than 8 times Python" >&2
	exit 1
}
