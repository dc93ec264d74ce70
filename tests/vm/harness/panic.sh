#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# vgpu: none
# gpreempt: no
echo 'before the end'
sleep 0.5
echo c >/proc/sysrq-trigger
sleep 60
