# SPDX-License-Identifier: GPL-2.0-only
# What docs/user-guide.md shows is what the commands print.
# timeout: 180
# vgpu: gpus=1 xccs=4
sh /t/docs.sh check /t/docs/user-guide.md
