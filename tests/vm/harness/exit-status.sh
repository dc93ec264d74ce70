#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# vgpu: none
# gpreempt: no
echo 'FAIL: the reason'
echo 'this line is shown'
exit 9
