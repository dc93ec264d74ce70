#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# vgpu: none
# gpreempt: no
# timeout: 1000
# One processor, and limits of time that do not depend on the host.
[ "$(nproc)" -eq 1 ] && [ "$PACE" -eq 1 ] || exit 1
# Ten minutes of this guest are a moment of ours.
sleep 600
