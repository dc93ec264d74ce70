#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# vgpu: none
# gpreempt: no
# Its last words arrive, however much came before and however fast it ends.
seq 1 50000
echo 'the last of many lines'
exit 8
