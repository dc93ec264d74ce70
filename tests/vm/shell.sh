#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# What the shell of "make vm" reads when it begins: two programs on the GPU, and what to type. A
# shell within it is an ordinary one.
unset ENV

# program NAME QUEUES
shell_program() {
	ln -sf "$(command -v vgpu-load)" "/srv/$1"
	"/srv/$1" --packet 1ms --rate 100 --queues "$2" > "/srv/$1.log" 2>&1 &
}

if [ -e /dev/kfd ] && mkdir -p /srv; then
	shell_program train 4
	shell_program serve 1
	cat <<-'END'

	Two programs use the simulated GPU: train with four queues, serve with one. Try:

	  gpreempt-ctl                        who uses the GPU
	  gpreempt-ctl top                    the same, live (q ends it)
	  gpreempt-ctl suspend comm:train     its queues off the GPU
	  cat /sys/kernel/debug/gpreempt/processes
	  gpreempt-ctl resume --all
	  gpreempt-ctl guard --online comm:serve --offline comm:train   (Ctrl-C ends it)

	END
fi
