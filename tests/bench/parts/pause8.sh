# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The same as pause.sh, of a process with five queues on each of eight GPUs.
# vgpu: gpus=8 xccs=4 poll_ns=100000
# clock: counted
# timeout: 900
target_gpus=all
. /t/bench/parts/pause.sh
