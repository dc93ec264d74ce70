#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What top costs: CPU time of a refresh at 2 Hz, with its looks, over the files of a
# made-up host. On the host, in real time.
#
#   top.sh BUILD-DIRECTORY
#
# 500 processes of four queues on one GPU, and 64 on eight. 10,000 us a refresh are 2 % of
# a CPU at 2 Hz.
set -eu

build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

measure() {
	"$build/bench-top" "$work/$1" "$2" "$3" "${BENCH_SECONDS:-10}" >"$work/out"
	read -r us looks <"$work/out"
	echo "$1_cpu_us $us"
	echo "$1_looks $looks"
}

measure top500 500 1
measure top64x8 64 8
