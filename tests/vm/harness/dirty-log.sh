#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# vgpu: none
# gpreempt: no
# Passes, but leaves a warning in the kernel's log.
echo 'WARNING: CPU: 0 PID: 1 at harness' >/dev/kmsg
