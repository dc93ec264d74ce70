# SPDX-License-Identifier: GPL-2.0-only
# The same as rocm/code on a GPU of one XCC, whose compute units and trap handler are gfx90a's.
# vgpu: profile=gfx90a
# waves: run
# with: rocm/code
# timeout: 120
. /t/cases/rocm/code.sh
