#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The documents' output, made again. In a page, each block that begins with
# "```console" has commands, "$ COMMAND", and what they print. They run one
# after the other, on a terminal, beside two GPU processes: "train" with four
# queues and "serve" with one.
#
#   docs.sh check PAGE...   is what they print now of the shape that is shown?
#   docs.sh print PAGE...   the pages with what they print now
#
# They run in a directory that has the files of /t/data.
#
# Shape: numbers are all alike, null too; lines that then are the same count once. On a
# busy host the thread that looks at slots may come too late to see them. The notes of
# doctor are faults of the running kernel, and each version has its own.
. /t/lib.sh
. /t/trace.sh

WIDTH=100
ESC=$(printf '\033')

# program NAME ARGS...: vgpu-load under another name.
program() {
	mkdir -p /srv
	ln -sf "$(command -v vgpu-load)" "/srv/$1"
	: > "$W/$1.out"
	"/srv/$1" --packet 1ms --rate 100 $2 $3 > "$W/$1.out" 2> "$W/$1.err" &
	eval "pid_$1=$!"
	started="$started $!"
	wait_for 40 is_ready "$1"
	wait_for 15 running "$(pid "$1")"
}

shape() {
	sed -E -e "s/$ESC\[[0-9;]*m//g" -e 's/null|0x[0-9a-f]+|[0-9]+([.,:][0-9]+)*/N/g' \
		-e 's/N(ns|us|ms|s|m|h)\>/N/g' -e 's/[-=]{2,}//g' \
		-e 's/^slots not measured$/slots N us (resolution N us)/' \
		-e 's/=-( |$)/=N\1/g' -e 's/ +/ /g' -e 's/ $//' "$1" |
		awk '/^note / { note = 1; next } note && /^ / { next } { note = 0 } !seen[$0]++'
}

run_one() {
	# What is written over does not count.
	NO_COLOR=1 terminal "$WIDTH" sh -c "cd $W/work && $1" | sed "s/.*$ESC\[K//" > "$W/now"
}

# What the page shows below its nth command.
shown() {
	awk -v want="$2" '/^```/ { on = $0 == "```console"; next }
		on && /^\$ / { n++; next } on && n == want' "$1"
}

check_one() {
	shown "$PAGE" $total > "$W/shown"
	shape "$W/shown" > "$W/shown.shape"
	shape "$W/now" > "$W/now.shape"
	cmp -s "$W/shown.shape" "$W/now.shape" && return
	echo "== $1"
	echo "-- prints now:"
	cat "$W/now"
	echo "-- differs from the page in shape (<: the page):"
	diff "$W/shown.shape" "$W/now.shape"
	different=$((different + 1))
}

# Replaces what stands below the nth command in $W/page.
print_one() {
	awk -v want=$total -v now="$W/now" '
		/^```/ { skip = 0; on = $0 == "```console" }
		on && /^\$ / { skip = ++n == want; print; if (skip) while ((getline line < now) > 0) print line; next }
		!skip' "$W/page" > "$W/page.new"
	mv "$W/page.new" "$W/page"
}

check_page() {
	[ $total -gt 0 ] || fail "$PAGE has no commands"
	echo "$total outputs in ${PAGE##*/}"
}

print_page() {
	echo "begin ${PAGE##*/}"
	cat "$W/page"
	echo "end ${PAGE##*/}"
}

MODE=$1
shift
different=0
cp -r /t/data "$W/work"
# Of systemd, which is not here; the programs are not in it.
mkdir -p /sys/fs/cgroup/system.slice/train.service
program train --queues 4
program serve --queues 1
for PAGE; do
	total=0
	awk '/^```/ { on = $0 == "```console"; next } on && /^\$ / { print substr($0, 3) }' \
		"$PAGE" > "$W/commands"
	cp "$PAGE" "$W/page"
	while read -r line <&3; do
		total=$((total + 1))
		run_one "$line"
		"${MODE}_one" "$line"
	done 3< "$W/commands"
	"${MODE}_page"
done
[ $different -eq 0 ] || fail "$different outputs are not of the shape that the documents show"
