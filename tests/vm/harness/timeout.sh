#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# vgpu: none
# gpreempt: no
# timeout: 3
sleep 60
