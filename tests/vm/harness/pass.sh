#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# vgpu: none
# gpreempt: no
# Passes, and finds what a test may rely on.
set -e
grep -q '^amdgpu ' /proc/modules
grep -q ' /sys/kernel/debug debugfs ' /proc/mounts
[ "$(date +%Y)" -ge 2024 ]
echo through a link >/dev/stdout
sleep 0.1 & wait
