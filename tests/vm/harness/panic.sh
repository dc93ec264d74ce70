#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# vgpu: none
# gpreempt: no
echo 'before the end'
sleep "$PACE" # until the host has read it
echo c >/proc/sysrq-trigger
sleep 60
