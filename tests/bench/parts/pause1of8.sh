# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The same as pause.sh, of a process with five queues on one of eight GPUs and an address
# space on all, as ROCm has it.
# vgpu: gpus=8 xccs=4 poll_ns=100000
# clock: counted
# timeout: 600
name=one_of_8_
. /t/bench/parts/pause.sh
