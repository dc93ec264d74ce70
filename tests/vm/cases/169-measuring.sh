# SPDX-License-Identifier: GPL-2.0-only
# What docs/measuring.md shows is what the commands print.
# timeout: 120
# vgpu: gpus=1 xccs=4
sh /t/docs.sh check /t/docs/measuring.md
