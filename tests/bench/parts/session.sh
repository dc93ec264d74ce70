# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# What a session costs, and what it adds to the driver's own time: the library's
# suspend and resume against a bare ioctl on the same thread, in turn. As on the
# host of the captures: five queues on one of eight GPUs.
# vgpu: gpus=8 xccs=4 poll_ns=100000
# clock: counted
# timeout: 600
. /t/lib.sh

start a --gpus 0 --queues 5 --packet 10us --rate 1
wait_for 15 running "$(pid a)"
session-bench "$(pid a)" 20 3 "${BENCH_CYCLES:-5000}" || fail "session-bench"
stop a
