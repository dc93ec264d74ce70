#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# vgpu: none
# gpreempt: no
# alone: it must come after all others
true
