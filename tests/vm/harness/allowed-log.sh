#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# vgpu: none
# gpreempt: no
# allow-log: WARNING: CPU: [0-9]+ PID: [0-9]+ at harness
# The same, and says that it does.
echo 'WARNING: CPU: 0 PID: 1 at harness' >/dev/kmsg
